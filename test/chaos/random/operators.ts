import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '@posthorn/kernel';
import type { Account } from './account.ts';
import type { Browsers } from './browsers.ts';
import type { Cluster } from './cluster.ts';
import type { History } from './history.ts';
import { cancelOne, moveOne, sendAgain } from './operate-emails.ts';
import { lendIdentity, limit, redeliver, rotateSecrets, suppress } from './operate-workspaces.ts';
import type { Random } from './random.ts';

type Act = (operator: Operator) => Promise<void>;

/** What operators do; what they do often is there more than once. */
const ACTS: readonly Act[] = [
  ...[sendAgain, sendAgain, sendAgain, cancelOne, cancelOne, moveOne],
  ...[lendIdentity, limit, redeliver, rotateSecrets, suppress],
];

/** Does one thing after the other to what clients do in the accounts. */
export class Operator {
  private account: Account;

  constructor(
    readonly cluster: Cluster,
    private readonly accounts: readonly Account[],
    readonly history: History,
    readonly browsers: Browsers,
    readonly random: Random,
  ) {
    this.account = accounts[0]!;
  }

  /** The account that is acted on at the moment. */
  get at(): Account {
    return this.account;
  }

  get workspaceId(): WorkspaceId {
    return this.account.tenant.workspaceId;
  }

  async run(isOver: () => boolean): Promise<void> {
    for (; !isOver(); await sleep(this.random.between(20, 200))) {
      this.account = this.random.pick(this.accounts);
      await this.random.pick(ACTS)(this);
    }
  }
}
