import { type Mailbox, parseMailbox } from '@posthorn/domain';
import { IsOptional } from 'class-validator';
import { HasForm } from './has-form.ts';
import { Setting } from './setting.ts';

/** Posthorn's own mails: invitations, verifications, and notices about webhooks and domains. */
export class SystemMailSettings {
  @Setting(
    "The sender of Posthorn's own mails, such as invitations; the relay must accept it. While it is unset, requests that need such a mail are refused (409), and editors are not notified of failing webhooks and domains.",
    { example: 'Posthorn <posthorn@example.com>', defaultText: 'unset' },
  )
  @IsOptional()
  @HasForm(
    'one mailbox, such as `ada@example.com` or `Ada <ada@example.com>`',
    (text) => 'mailbox' in parseMailbox(text),
  )
  SYSTEM_FROM?: string;

  /** The sender; undefined when none is set. */
  get from(): Mailbox | undefined {
    if (this.SYSTEM_FROM === undefined) return undefined;
    const parsed = parseMailbox(this.SYSTEM_FROM);
    if ('fault' in parsed) throw new Error(`SYSTEM_FROM ${parsed.fault}`);
    return parsed.mailbox;
  }
}
