import { SIZES, type JsonObject } from '@posthorn/domain';
import { mailbox, mailboxes } from '../validation/mailbox-rules.ts';
import { flag, jsonObject, shapedAs } from '../validation/object-rules.ts';
import { Optional, Required } from '../validation/rule.ts';
import { content, displayName, shortText, singleLine, timestamp } from '../validation/text-rules.ts';

/** What is recorded of an email after it has arrived. */
export class EmailSettingsRequest {
  /** Whether links are rewritten so that a click is recorded; true if absent. */
  @Optional(flag)
  trackClicks?: boolean;

  /** Whether an image is added so that an opening is recorded; if absent true for templated emails, false for raw ones. */
  @Optional(flag)
  trackOpens?: boolean;
}

/** The fields that both kinds of email have. */
export abstract class AnyEmailRequest {
  /** The recipient: one mailbox, `a@b.c` or `Name <a@b.c>`. */
  @Required(mailbox)
  to!: string;

  /** Where replies go: one mailbox, or up to 5 in an array. */
  @Optional(mailboxes(SIZES.replyTo))
  replyTo?: string | string[];

  @Optional(shapedAs(EmailSettingsRequest))
  settings?: EmailSettingsRequest;

  /** Under which analytics are grouped. */
  @Optional(singleLine(SIZES.groupBy))
  groupBy?: string;

  /** When to send: a date, a time and an offset or `Z`; at most 90 days ahead. */
  @Optional(timestamp)
  sendAt?: string;

  /** A second request with the same key sends nothing. */
  @Optional(singleLine(SIZES.idempotencyKey))
  idempotencyKey?: string;
}

/** An email whose HTML the caller gives. */
export class RawEmailRequest extends AnyEmailRequest {
  /** The sender: one mailbox at a verified address or on a verified domain. */
  @Required(mailbox)
  from!: string;

  /** The sender's name; it wins over a name in `from`. */
  @Optional(displayName)
  fromName?: string;

  @Required(singleLine(SIZES.subject))
  subject!: string;

  @Required(content(SIZES.html, { mayBeEmpty: false }))
  html!: string;

  /** The plain text; made from the HTML if absent or empty. */
  @Optional(content(SIZES.text, { mayBeEmpty: true }))
  text?: string;

  /** What the inbox shows after the subject; an empty one is as good as none. */
  @Optional(shortText(SIZES.previewText))
  previewText?: string;

  /** What is to be kept of the contact with the `to` address. */
  @Optional(jsonObject({ size: SIZES.contactProperties, keys: SIZES.contactPropertyKeys }))
  contactProperties?: JsonObject;
}

/** An email made from a template of the workspace. */
export class TemplatedEmailRequest extends AnyEmailRequest {
  /** The name of the template. */
  @Required(singleLine(SIZES.templateName))
  template!: string;

  /** What the template prints; needed where it prints something that has no default. */
  @Optional(jsonObject({ size: SIZES.variables }))
  variables?: JsonObject;
}
