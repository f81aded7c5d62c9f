import { type JsonObject, SCHEDULING_HORIZON_DAYS, SEND_AT_GRACE_MINUTES, SIZES } from '@posthorn/domain';
import { type AttachmentRequest, attachments } from './attachment.request.ts';
import { unionOf } from '../openapi/json-schema.ts';
import { mailbox, mailboxes, recipient } from '../validation/mailbox-rules.ts';
import { flag, jsonObject, shapedAs } from '../validation/object-rules.ts';
import { isJsonObject, makeRule, Optional, Required, type Rule } from '../validation/rule.ts';
import { content, displayName, shortText, singleLine, timestamp } from '../validation/text-rules.ts';

const name: Rule = singleLine(SIZES.templateName);
/** The name of a template. Some services take an object with the variables inside. */
const templateName: Rule = makeRule(name.schema, (value, field) =>
  isJsonObject(value)
    ? `\`${field}\` is an object; give the name of the template as a string, and \`variables\` beside it`
    : name(value, field),
);

/** Tracking and unsubscribe settings of an email. */
class EmailSettingsRequest {
  @Optional(flag, 'Whether links are rewritten so that clicks are recorded.', {
    default: true,
    example: true,
  })
  trackClicks?: boolean;

  @Optional(
    flag,
    'Whether an image is added so that opens are recorded; if absent, true for templated emails and false for raw ones.',
    { example: true },
  )
  trackOpens?: boolean;

  @Optional(
    flag,
    'Whether the email has an unsubscribe link (RFC 8058) and is not sent to recipients who have unsubscribed; if absent, the setting of its template, and false for raw emails.',
    { example: false },
  )
  unsubscribe?: boolean;
}

/** The fields that both kinds of email have. */
export abstract class AnyEmailRequest {
  @Required(recipient, 'The recipient: one mailbox, `a@b.c` or `Name <a@b.c>`.', {
    example: 'Ada Lovelace <ada@example.com>',
  })
  to!: string;

  @Optional(
    mailboxes(SIZES.replyTo),
    `Where replies go: one mailbox, or up to ${SIZES.replyTo.max} in an array.`,
    { example: 'help@example.com' },
  )
  replyTo?: string | string[];

  @Optional(shapedAs(EmailSettingsRequest), 'Tracking of opens and clicks, and unsubscribing.', {
    example: { trackClicks: true, trackOpens: true },
  })
  settings?: EmailSettingsRequest;

  @Optional(attachments, 'Up to 20 files, together up to 7 MiB.')
  attachments?: AttachmentRequest[];

  @Optional(singleLine(SIZES.groupBy), 'The group in which the email is counted.', {
    example: 'order-receipts',
  })
  groupBy?: string;

  @Optional(
    timestamp,
    `When to send: a date, a time and an offset or \`Z\`; at most ${SCHEDULING_HORIZON_DAYS} days ahead, and at once if absent. A time less than ${SEND_AT_GRACE_MINUTES} minutes in the past means at once.`,
  )
  sendAt?: string;

  @Optional(
    singleLine(SIZES.idempotencyKey),
    'A second request with the same key and payload sends nothing and gets the first answer again.',
    { example: 'receipt-10042' },
  )
  idempotencyKey?: string;
}

/** An email whose HTML the caller gives. */
export class RawEmailRequest extends AnyEmailRequest {
  @Required(
    mailbox,
    'The sender: one mailbox at a verified address or on a verified domain of the workspace.',
    { example: 'Shop <shop@example.com>' },
  )
  from!: string;

  @Optional(displayName, 'The name of the sender; it takes precedence over a name in `from`.', {
    example: 'The Shop',
  })
  fromName?: string;

  @Required(singleLine(SIZES.subject), 'The subject line.', { example: 'Your receipt' })
  subject!: string;

  @Required(content(SIZES.html, { mayBeEmpty: false }), 'The HTML of the email, up to 5 MiB.', {
    example: '<h1>Thank you!</h1><p>Your order is on its way.</p>',
  })
  html!: string;

  @Optional(
    content(SIZES.text, { mayBeEmpty: true }),
    'The plain text, up to 5 MiB; made from the HTML if absent or empty.',
    { example: 'Thank you! Your order is on its way.' },
  )
  text?: string;

  @Optional(
    shortText(SIZES.previewText),
    'What the inbox shows after the subject; an empty one counts as absent.',
    { example: 'It arrives on Tuesday' },
  )
  previewText?: string;

  @Optional(
    jsonObject({ size: SIZES.contactProperties, keys: SIZES.contactPropertyKeys }),
    'Properties to store on the contact with the `to` address: up to 100 keys, 64 KiB as JSON and 32 levels.',
    { example: { firstName: 'Ada', plan: 'pro' } },
  )
  contactProperties?: JsonObject;
}

/** An email made from a template of the workspace. */
export class TemplatedEmailRequest extends AnyEmailRequest {
  @Required(templateName, 'The name of the template.', { example: 'welcome' })
  template!: string;

  @Optional(
    jsonObject({ size: SIZES.variables }),
    'The variables of the template, up to 256 KiB as JSON and 32 levels; those that it prints and that have no default are required.',
    { example: { firstName: 'Ada' } },
  )
  variables?: JsonObject;
}

/** An email to be sent: a body with `template` is templated, any other is raw. */
export const SEND_EMAIL_REQUEST = unionOf('SendEmailRequest', [RawEmailRequest, TemplatedEmailRequest]);
