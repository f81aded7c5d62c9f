import type { IncomingMessage } from 'node:http';
import { Refusal } from '@posthorn/kernel';
import { SIZES } from '@posthorn/domain';
import { headerValues } from '@posthorn/platform';

/**
 * The `Idempotency-Key` header of a request; undefined: absent.
 *
 * @throws Refusal (400) when it is repeated or invalid
 */
export function idempotencyHeader(request: Pick<IncomingMessage, 'rawHeaders'>): string | undefined {
  const values = headerValues(request, 'idempotency-key');
  if (values.length > 1)
    throw new Refusal(400, 'There is more than one `Idempotency-Key` header; send exactly one');
  const key = values[0]?.trim();
  if (key === undefined) return undefined;
  const { max } = SIZES.idempotencyKey;
  if (key === '' || key.length > max || !/^[ -~]+$/.test(key)) {
    throw new Refusal(400, `The \`Idempotency-Key\` header must have 1 to ${max} printable ASCII characters`);
  }
  return key;
}

/**
 * Puts the header in the place of the field; both may be given when they are equal.
 *
 * @throws Refusal (400) when they differ
 */
export function withHeaderKey<Draft extends { readonly idempotencyKey?: string | undefined }>(
  draft: Draft,
  key: string | undefined,
): Draft {
  if (key === undefined) return draft;
  if (draft.idempotencyKey !== undefined && draft.idempotencyKey !== key) {
    throw new Refusal(
      400,
      '`idempotencyKey` and the `Idempotency-Key` header differ; give one of them, or the same in both',
    );
  }
  return { ...draft, idempotencyKey: key };
}
