import { Refusal } from '@posthorn/kernel';
import { isJsonObject, kindOf } from '../validation/rule.ts';
import { faultsInFields, shapeOf } from '../validation/shape.ts';
import { faultsInUnknown } from '../validation/unknown-fields.ts';
import { adviceForForeignField } from './foreign-field-names.ts';
import { RawEmailRequest, TemplatedEmailRequest } from './send-email.request.ts';

const RAW = shapeOf(RawEmailRequest);
const TEMPLATED = shapeOf(TemplatedEmailRequest);

const REQUIRED_OF_RAW = ['from', 'to', 'subject', 'html'] as const;
const REQUIRED_OF_TEMPLATED = ['template', 'to'] as const;
const ONLY_OF_RAW = RAW.names.filter((name) => !TEMPLATED.names.includes(name));
const ONLY_OF_TEMPLATED = TEMPLATED.names.filter((name) => !RAW.names.includes(name));
const REQUIRED_OF_BOTH =
  'a raw email requires `from`, `to`, `subject` and `html`; a templated email requires `template`, `to` and, for what ' +
  'its template prints without a default, `variables`';

/** The refusal of a body that is JSON, but no object. */
export const NO_EMAIL = refusal(['The body must be a JSON object', REQUIRED_OF_BOTH]);

/**
 * Validates the shape of an email by its kind: one with `template` is templated, any other is raw. Does not check what needs the
 * current time or a look-up: the bounds of `sendAt`, the sender, the template.
 *
 * @param body from the JSON parser
 * @throws Refusal (400) that names all faults
 */
export function validateEmailRequest(body: unknown): RawEmailRequest | TemplatedEmailRequest {
  if (!isJsonObject(body)) throw refusal([`The email is ${kindOf(body)}; give an object`, REQUIRED_OF_BOTH]);
  return isTemplated(body) ? validateTemplated(body) : validateRaw(body);
}

/** S1: a body with `template` is templated, any other is raw. */
export function isTemplated(email: object): email is TemplatedEmailRequest {
  return Object.hasOwn(email, 'template');
}

function validateRaw(body: Record<string, unknown>): RawEmailRequest {
  const unknown = faultsInUnknown(RAW, body, '', (name) => {
    if (!ONLY_OF_TEMPLATED.includes(name)) return adviceForForeignField(name, [...RAW.names, 'template']);
    return 'belongs to templated emails; name a `template` or leave it out';
  });
  refuseFaults([...faultsInFields(RAW, body), ...unknown], () =>
    isNeitherKind(body, REQUIRED_OF_RAW, ONLY_OF_TEMPLATED),
  );
  return body as unknown as RawEmailRequest;
}

function validateTemplated(body: Record<string, unknown>): TemplatedEmailRequest {
  const unknown = faultsInUnknown(TEMPLATED, body, '', (name) => {
    if (!ONLY_OF_RAW.includes(name)) return adviceForForeignField(name, TEMPLATED.names);
    return 'belongs to raw emails, and an email with `template` is templated; leave one of the two out';
  });
  refuseFaults([...faultsInFields(TEMPLATED, body), ...unknown], () =>
    isNeitherKind(body, REQUIRED_OF_TEMPLATED, ONLY_OF_RAW),
  );
  return body as unknown as TemplatedEmailRequest;
}

/** Whether a required field is missing or no string, or there is a field of the other kind: then the kind may be a mistake. */
function isNeitherKind(
  body: Record<string, unknown>,
  required: readonly string[],
  ofTheOther: readonly string[],
): boolean {
  return (
    required.some((name) => typeof body[name] !== 'string') ||
    ofTheOther.some((name) => Object.hasOwn(body, name))
  );
}

function refuseFaults(faults: string[], isOfNeitherKind: () => boolean): void {
  if (faults.length === 0) return;
  throw refusal(isOfNeitherKind() ? [...faults, REQUIRED_OF_BOTH] : faults);
}

function refusal(faults: string[]): Refusal {
  return new Refusal(400, faults.join('; '), { docsPage: 'invalid-payload' });
}
