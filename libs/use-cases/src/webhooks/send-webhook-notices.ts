import { hash } from 'node:crypto';
import { Refusal } from '@posthorn/kernel';
import type { OwedWebhookNotice, WebhookNoticeStore } from '@posthorn/database';
import { handOverAll } from '../system/hand-over-all.ts';
import type { SendSystemMail, SystemMail } from '../system/send-system-mail.ts';
import { webhookNoticeMail } from './webhook-notice-mail.ts';

interface SendWebhookNoticesOptions {
  readonly notices: Pick<WebhookNoticeStore, 'owed' | 'settle'>;
  readonly systemMail: Pick<SendSystemMail, 'send' | 'isPossible'>;
  /** Told of mails that could not be handed over; they are owed still, and tried again. */
  readonly onError: (error: unknown) => void;
}

/**
 * Tells the editors of workspaces by mail what has become of their webhooks. A notice is noted in the transaction of what it tells of, and
 * owed until a mail to each editor is durable as an email; whoever hands a mail over does so under the same idempotency key, so two at
 * once send one.
 */
export class SendWebhookNotices {
  constructor(private readonly options: SendWebhookNoticesOptions) {}

  /**
   * Hands over what is owed, as long as it may go on.
   *
   * @returns how many notices could be
   */
  async handOverOwed(mayGoOn: () => boolean = () => true): Promise<number> {
    const { notices } = this.options;
    return handOverAll({
      readAfter: (after, limit) => notices.owed(after, limit),
      handOver: (notice) => this.handOver(notice),
      mayGoOn,
    });
  }

  private async handOver(notice: OwedWebhookNotice): Promise<boolean> {
    const { notices, systemMail, onError } = this.options;
    try {
      // An installation that sends no mails of its own tells by the webhook's status and the audit log.
      if (systemMail.isPossible) await this.sendTo(notice);
      await notices.settle(notice.id);
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  private async sendTo(notice: OwedWebhookNotice): Promise<void> {
    for (const editor of notice.editors) {
      // Not the address itself: it can be longer than a key.
      const idempotencyKey = `webhook-notice:${notice.id}:${hash('sha256', editor, 'base64url')}`;
      await this.sendOnce({ ...webhookNoticeMail(notice, editor), idempotencyKey });
    }
  }

  /** A mail with other words can be durable under this key: the webhook led elsewhere then, or its workspace had another name. */
  private async sendOnce(mail: SystemMail): Promise<void> {
    try {
      await this.options.systemMail.send(mail);
    } catch (error) {
      if (!(error instanceof Refusal) || error.statusCode !== 409) throw error;
    }
  }
}
