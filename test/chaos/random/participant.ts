import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '@posthorn/kernel';
import type { Account } from './account.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';

/** Somebody who does one thing after the other, each in one of the accounts. */
export abstract class Participant {
  private account: Account;

  constructor(
    private readonly accounts: readonly Account[],
    readonly history: History,
    readonly random: Random,
  ) {
    this.account = accounts[0]!;
  }

  /** The account of what is done at the moment. */
  get at(): Account {
    return this.account;
  }

  get workspaceId(): WorkspaceId {
    return this.account.tenant.workspaceId;
  }

  /** Acts until it is over, with pauses of `leastMs` to `mostMs`. */
  protected async actUntil(
    isOver: () => boolean,
    [leastMs, mostMs]: readonly [leastMs: number, mostMs: number],
    act: () => Promise<void>,
  ): Promise<void> {
    for (; !isOver(); await sleep(this.random.between(leastMs, mostMs))) {
      this.account = this.random.pick(this.accounts);
      await act();
    }
  }
}
