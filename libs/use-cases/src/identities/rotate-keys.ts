import { type IdentityId, newId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, decideRotation, type Rotation } from '@posthorn/domain';
import {
  type DkimKeyChanges,
  type IdentityStore,
  type IdentityWithRecords,
  stagedKey,
} from '@posthorn/database';
import type { DkimKeyMaker } from './dkim-key-maker.ts';

interface RotateKeysOptions {
  readonly identities: Pick<IdentityStore, 'find'>;
  readonly changes: Pick<DkimKeyChanges, 'rotateKeys'>;
  readonly keys: Pick<DkimKeyMaker, 'make'>;
  readonly clock: { nowMs(): number };
}

/** Rotates the DKIM keys of a domain. The current keys keep signing until the records of the new ones are found; see `keysAfterCheck`. */
export class RotateKeys {
  constructor(private readonly options: RotateKeysOptions) {}

  /**
   * Changes nothing while a rotation is already waiting for its records.
   *
   * @returns the domain after the change; undefined when the workspace has no identity with this id
   * @throws Refusal 409 for an address, or while the records of the previous keys must stay; 503 when too many keys are being generated
   */
  async rotate(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: IdentityId,
  ): Promise<IdentityWithRecords | undefined> {
    const { identities } = this.options;
    const identity = await identities.find(workspaceId, id);
    if (identity === undefined) return undefined;
    if (identity.kind === 'address') throw keysOfAddress();
    const rotation = await this.begin(identity, actor);
    if (rotation?.kind === 'too_early') throw rotatedTooEarly(rotation.untilMs);
    return identities.find(workspaceId, id);
  }

  private async begin(domain: IdentityWithRecords, actor: Actor): Promise<Rotation | undefined> {
    const { changes, clock, keys } = this.options;
    const { workspaceId, id } = domain;
    // Checked before, because generating keys is expensive, and again with the change, because others may rotate meanwhile.
    const early = decideRotation(domain.keys.map(stagedKey), clock.nowMs());
    if (early.kind !== 'begin') return early;
    const made = await keys.make(workspaceId, newId('idn', clock.nowMs()));
    return changes.rotateKeys(workspaceId, actor, id, made);
  }
}

/** Addresses have no keys. */
export function keysOfAddress(): Refusal {
  return new Refusal(409, 'The identity is an address; only domains have keys, so add its domain');
}

/** The records of the previous keys must stay until then. */
export function rotatedTooEarly(untilMs: number): Refusal {
  const until = new Date(untilMs).toISOString();
  return new Refusal(
    409,
    `The keys were changed recently, and the records of those before must stay until ${until}; rotate again after that`,
  );
}
