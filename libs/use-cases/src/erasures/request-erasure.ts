import { type DatabaseClock, newId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, type Erasure, MAX_OPEN_ERASURES } from '@posthorn/domain';
import type { ErasureStore } from '@posthorn/database';

interface ErasureOrder {
  /** Its domain in lower-case ASCII. */
  readonly address: string;
  /** Whether nothing is to be sent to the person again, even if the address is on no list. */
  readonly isSuppressing: boolean;
}

/** Erases all that a workspace has about a person: begun here, continued by the scheduler. */
export class RequestErasure {
  constructor(
    private readonly erasures: Pick<ErasureStore, 'begin'>,
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
  ) {}

  /**
   * Begins an erasure. While one of the same person is unfinished, returns that one, which then searches everything again.
   *
   * @throws Refusal 409 when the workspace has too many unfinished ones
   */
  async begin(workspaceId: WorkspaceId, actor: Actor, order: ErasureOrder): Promise<Erasure> {
    const id = newId('ers', this.clock.nowMs());
    const erasure = await this.erasures.begin(workspaceId, actor, { id, ...order }, MAX_OPEN_ERASURES);
    if (erasure === undefined) throw tooManyErasures();
    return erasure;
  }
}

/** The workspace has as many unfinished erasures as it may have. */
export function tooManyErasures(): Refusal {
  return new Refusal(
    409,
    `The workspace has ${MAX_OPEN_ERASURES} erasures that are not completed, and cannot have more; wait until one is \`COMPLETED\``,
  );
}
