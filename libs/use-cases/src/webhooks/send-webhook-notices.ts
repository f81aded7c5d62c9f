import { hash } from 'node:crypto';
import { Refusal } from '@posthorn/kernel';
import type { PendingWebhookNotice, WebhookNoticeStore } from '@posthorn/database';
import { submitAll } from '../system/submit-all.ts';
import type { SendSystemMail, SystemMail } from '../system/send-system-mail.ts';
import { webhookNoticeMail } from './webhook-notice-mail.ts';

interface SendWebhookNoticesOptions {
  readonly notices: Pick<WebhookNoticeStore, 'pending' | 'settle'>;
  readonly systemMail: Pick<SendSystemMail, 'send' | 'isPossible'>;
  /** Called with failures to submit mails; these stay pending and are retried. */
  readonly onError: (error: unknown) => void;
}

/**
 * Notifies the editors of workspaces by mail of changes of their webhooks. A notice is recorded in the transaction of the change, and stays
 * pending until a mail to each editor is durable as an email. The idempotency key is the same for all attempts, so two concurrent ones send
 * one mail.
 */
export class SendWebhookNotices {
  constructor(private readonly options: SendWebhookNoticesOptions) {}

  /**
   * Submits the pending notices, as long as `shouldContinue` allows.
   *
   * @returns how many notices were submitted
   */
  async submitPending(shouldContinue: () => boolean = () => true): Promise<number> {
    const { notices } = this.options;
    return submitAll({
      readAfter: (after, limit) => notices.pending(after, limit),
      submit: (notice) => this.submit(notice),
      shouldContinue,
    });
  }

  private async submit(notice: PendingWebhookNotice): Promise<boolean> {
    const { notices, systemMail, onError } = this.options;
    try {
      // Where the installation sends no mails of its own, the webhook's status and the audit log have to do.
      if (systemMail.isPossible) await this.sendTo(notice);
      await notices.settle(notice.id);
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  private async sendTo(notice: PendingWebhookNotice): Promise<void> {
    for (const editor of notice.editors) {
      // A hash, because an address can be longer than an idempotency key.
      const idempotencyKey = `webhook-notice:${notice.id}:${hash('sha256', editor, 'base64url')}`;
      await this.sendOnce({ ...webhookNoticeMail(notice, editor), idempotencyKey });
    }
  }

  /** A mail with another text may be durable under this key, from when the webhook had another URL or its workspace another name. */
  private async sendOnce(mail: SystemMail): Promise<void> {
    try {
      await this.options.systemMail.send(mail);
    } catch (error) {
      if (!(error instanceof Refusal) || error.statusCode !== 409) throw error;
    }
  }
}
