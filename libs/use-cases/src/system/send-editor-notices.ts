import { hash } from 'node:crypto';
import { Refusal } from '@posthorn/kernel';
import type { PendingNotice } from '@posthorn/database';
import type { MailDraft, SendSystemMail, SystemMail } from './send-system-mail.ts';
import { SubmitPending } from './submit-pending.ts';

interface SendEditorNoticesOptions<Notice extends PendingNotice> {
  /** The beginning of the mails' idempotency keys, another one for each kind of notices. */
  readonly kind: string;
  readonly notices: {
    /** The next notices, ordered by id; null: from the beginning. */
    pending(after: string | null, limit: number): Promise<Notice[]>;
    settle(id: string): Promise<void>;
  };
  readonly mailOf: (notice: Notice, editor: string) => MailDraft;
  readonly systemMail: Pick<SendSystemMail, 'send' | 'isPossible'>;
  /** Called with a notice that reaches nobody, and why. */
  readonly onUntold: (notice: Notice, reason: string) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Notifies the editors of workspaces by mail of changes that nobody has made, such as that of a webhook that was disabled. A notice is recorded in the
 * transaction of the change, and stays pending until a mail to each editor is durable as an email. The idempotency key is the same for all
 * attempts, so two concurrent ones send one mail. A notice that reaches nobody is reported and does not stay pending: it would pile up, and tell whoever becomes
 * an editor later of something that may be over.
 */
export class SendEditorNotices<Notice extends PendingNotice> extends SubmitPending<Notice> {
  constructor(private readonly options: SendEditorNoticesOptions<Notice>) {
    super({ settle: (id) => options.notices.settle(id), onError: options.onError });
  }

  protected readAfter(after: string | null, limit: number): Promise<Notice[]> {
    return this.options.notices.pending(after, limit);
  }

  protected async send(notice: Notice): Promise<void> {
    const reason = this.whyUntold(notice);
    if (reason === undefined) await this.sendTo(notice);
    else this.options.onUntold(notice, reason);
  }

  /** Why the notice reaches nobody; undefined: somebody can be sent it. */
  private whyUntold({ editors }: Notice): string | undefined {
    if (!this.options.systemMail.isPossible) return 'SYSTEM_FROM is not set';
    return editors.length === 0 ? 'the workspace has no member with the role EDITOR' : undefined;
  }

  private async sendTo(notice: Notice): Promise<void> {
    const { kind, mailOf } = this.options;
    for (const editor of notice.editors) {
      // A hash, because an address can be longer than an idempotency key.
      const idempotencyKey = `${kind}:${notice.id}:${hash('sha256', editor, 'base64url')}`;
      await this.sendOnce({ ...mailOf(notice, editor), idempotencyKey });
    }
  }

  /** A mail with another text may be durable under this key, from when the webhook had another URL or the workspace another name. */
  private async sendOnce(mail: SystemMail): Promise<void> {
    try {
      await this.options.systemMail.send(mail);
    } catch (error) {
      if (!(error instanceof Refusal) || error.statusCode !== 409) throw error;
    }
  }
}
