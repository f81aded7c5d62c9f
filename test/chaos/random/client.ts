import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '@posthorn/kernel';
import type { Answer } from '../../e2e/api.ts';
import type { Account } from './account.ts';
import { changeContact, sendUnwanted } from './contact-operations.ts';
import { sendBatch, sendOne } from './email-operations.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';
import { useShortLivedKey } from './key-operations.ts';
import { readLists } from './other-operations.ts';
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
export class Client {
  private account: Account;
  /** Its template in each account. */
  readonly templates = new Map<Account, ChangingTemplate>();

  constructor(
    private readonly accounts: readonly Account[],
    readonly history: History,
    readonly random: Random,
  ) {
    this.account = accounts[0]!;
  }

  /** The account that it works in at the moment. */
  get at(): Account {
    return this.account;
  }

  get workspaceId(): WorkspaceId {
    return this.account.tenant.workspaceId;
  }

  async run(isOver: () => boolean): Promise<void> {
    for (; !isOver(); await sleep(this.random.between(50, 400))) {
      this.account = this.random.pick(this.accounts);
      await this.random.pick(OPERATIONS)(this);
    }
  }

  /** As {@link History.expects}. */
  expects(answer: Answer, ...statuses: readonly number[]): boolean {
    return this.history.expects(answer, ...statuses);
  }
}
