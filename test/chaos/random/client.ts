import type { Answer } from '../../e2e/api.ts';
import type { Account } from './account.ts';
import { changeContact, sendUnwanted } from './contact-operations.ts';
import { sendBatch, sendOne } from './email-operations.ts';
import { useShortLivedKey } from './key-operations.ts';
import { readLists } from './other-operations.ts';
import { Participant } from './participant.ts';
import { sendTemplated } from './template-operations.ts';
import { pauseWebhook, repeatDeliveries, rotateToken, tellForAMoment } from './webhook-operations.ts';

/** A template that only one client changes. */
export interface ChangingTemplate {
  readonly id: string;
  readonly name: string;
  version: number;
}

type Operation = (client: Client) => Promise<void>;

/** What clients do; what they do often is there more than once. */
const OPERATIONS: readonly Operation[] = [
  ...[sendOne, sendOne, sendOne, sendOne, sendBatch],
  ...[changeContact, changeContact, sendUnwanted, sendTemplated, readLists],
  ...[pauseWebhook, repeatDeliveries, rotateToken, tellForAMoment, useShortLivedKey],
];

/** Does one thing after the other in one of the accounts. */
export class Client extends Participant {
  /** Its template in each account. */
  readonly templates = new Map<Account, ChangingTemplate>();

  run(isOver: () => boolean): Promise<void> {
    return this.actUntil(isOver, [50, 400], () => this.random.pick(OPERATIONS)(this));
  }

  /** As {@link History.expects}. */
  expects(answer: Answer, ...statuses: readonly number[]): boolean {
    return this.history.expects(answer, ...statuses);
  }
}
