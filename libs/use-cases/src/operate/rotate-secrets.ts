import {
  sealContextOf,
  SEALED_COLUMNS,
  type SealedColumn,
  type SealedSecret,
  type SealedSecretStore,
} from '@posthorn/database';
import { Refusal } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import { type SecretBox, SecretNotOpened } from '@posthorn/signing';

const SECRETS_PER_GROUP = 200;

/**
 * Re-encrypts every stored secret that is not encrypted with the first key of the ring. Safe to interrupt, to run twice or concurrently,
 * and to run while the apps do: concurrent changes are not overwritten. The audit log has an entry from before the first one, so that an
 * interrupted run is recorded too, and one from after the last.
 *
 * @returns how many were re-encrypted, and the id of the first key: an operator compares it with what the apps begin their lists with
 * @throws Refusal (409), after all the others were done, when some cannot be decrypted
 */
export async function rotateSecrets(
  secrets: Pick<SealedSecretStore, 'listOthers' | 'replace' | 'record'>,
  actor: Actor,
  box: SecretBox,
): Promise<{ readonly key: string; readonly sealedAnew: number }> {
  const key = box.currentKeyId;
  let sealedAnew = 0;
  const closed: string[] = [];
  for (const column of Object.values(SEALED_COLUMNS)) {
    for await (const secret of othersOf(secrets, column, box.currentHead)) {
      if (sealedAnew + closed.length === 0) await secrets.record(actor, { key, begun: true });
      const context = sealContextOf(column, secret.rowId);
      const opened = box.tryToOpen(secret.sealed, context);
      if (opened instanceof SecretNotOpened) {
        closed.push(`${column.table} ${secret.rowId}: ${opened.message}`);
      } else {
        await secrets.replace(column, secret, box.seal(opened, context));
        sealedAnew += 1;
      }
    }
  }
  if (sealedAnew + closed.length > 0)
    await secrets.record(actor, { key, sealedAnew, notOpened: closed.length });
  if (closed.length > 0) throw notOpened(sealedAnew, closed);
  return { key, sealedAnew };
}

async function* othersOf(
  secrets: Pick<SealedSecretStore, 'listOthers'>,
  column: SealedColumn,
  head: Buffer,
): AsyncGenerator<SealedSecret> {
  let after: string | null = null;
  for (;;) {
    const group: SealedSecret[] = await secrets.listOthers(column, head, after, SECRETS_PER_GROUP);
    yield* group;
    if (group.length < SECRETS_PER_GROUP) return;
    after = group.at(-1)!.rowId;
  }
}

function notOpened(sealedAnew: number, closed: readonly string[]): Refusal {
  return new Refusal(
    409,
    `${sealedAnew} secrets were re-encrypted, ${closed.length} could not be, the first of them ${closed[0]}; ` +
      'bring back the key that they need and rotate again, and keep the old keys until nothing is left',
  );
}
