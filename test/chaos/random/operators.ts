import type { Account } from './account.ts';
import type { Browsers } from './browsers.ts';
import type { Cluster } from './cluster.ts';
import type { History } from './history.ts';
import { cancelOne, moveOne, sendAgain } from './operate-emails.ts';
import { lendIdentity, limit, redeliver, rotateSecrets, suppress } from './operate-workspaces.ts';
import { Participant } from './participant.ts';
import type { Random } from './random.ts';

type Act = (operator: Operator) => Promise<void>;

/** What operators do; what they do often is there more than once. */
const ACTS: readonly Act[] = [
  ...[sendAgain, sendAgain, sendAgain, cancelOne, cancelOne, moveOne],
  ...[lendIdentity, limit, redeliver, rotateSecrets, suppress],
];

/** Does one thing after the other to what clients do in the accounts. */
export class Operator extends Participant {
  constructor(
    readonly cluster: Cluster,
    accounts: readonly Account[],
    history: History,
    readonly browsers: Browsers,
    random: Random,
  ) {
    super(accounts, history, random);
  }

  run(isOver: () => boolean): Promise<void> {
    return this.actUntil(isOver, [20, 200], () => this.random.pick(ACTS)(this));
  }
}
