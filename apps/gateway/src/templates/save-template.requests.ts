import { type JsonObject, SIZES } from '@posthorn/domain';
import { mailbox, mailboxes } from '../validation/mailbox-rules.ts';
import { flag, jsonObject } from '../validation/object-rules.ts';
import { makeRule, Optional, Removable, Required, type Rule } from '../validation/rule.ts';
import { content, displayName, givenName, shortText, singleLine } from '../validation/text-rules.ts';

const name = givenName(SIZES.templateName);
const subject = singleLine(SIZES.subject);
const html = content(SIZES.html, { mayBeEmpty: false });
const text = content(SIZES.text, { mayBeEmpty: true });
const previewText = shortText(SIZES.previewText);
const from = untagged(mailbox);
const fromName = untagged(displayName);
// May be empty as in answers, so that a template can be read and written back.
const replyTo = untagged(mailboxes(SIZES.replyTo, { mayBeEmpty: true }));
const defaults = jsonObject({ size: SIZES.variables });

const EXAMPLE = {
  name: 'order-receipt',
  subject: 'Your order {{orderId}}',
  html: '<h1>Thank you, {{default firstName "friend"}}!</h1><ul>{{#each items}}<li>{{name}}: {{currency price "EUR"}}</li>{{/each}}</ul>',
  text: 'Thank you, {{default firstName "friend"}}!',
  previewText: 'It arrives on {{date arrivesAt "long"}}',
  from: 'Shop <shop@example.com>',
  fromName: 'The Shop',
  replyTo: 'help@example.com',
  defaults: { arrivesAt: '2030-01-31' },
} as const;

/** A new template. */
export class CreateTemplateRequest {
  @Required(
    name,
    'The name by which emails refer to it, without surrounding spaces; unique among the templates of the workspace that are not deleted.',
    { example: EXAMPLE.name },
  )
  name!: string;

  @Required(subject, 'The subject line, in the template language.', { example: EXAMPLE.subject })
  subject!: string;

  @Required(html, 'The HTML, in the template language, up to 5 MiB.', { example: EXAMPLE.html })
  html!: string;

  @Required(
    from,
    'The sender of its emails; whether the workspace may send from it is checked for each email.',
    { example: EXAMPLE.from },
  )
  from!: string;

  @Removable(fromName, 'The name of the sender; it wins over a name in `from`. `null`: none.', {
    example: EXAMPLE.fromName,
  })
  fromName?: string | null;

  @Removable(
    text,
    'The plain text, in the template language, up to 5 MiB; made from the HTML if absent, `null` or empty.',
    { example: EXAMPLE.text },
  )
  text?: string | null;

  @Removable(
    previewText,
    'What the inbox shows after the subject, in the template language. `null` or empty: nothing of its own.',
    { example: EXAMPLE.previewText },
  )
  previewText?: string | null;

  @Removable(
    replyTo,
    'Where replies go: one mailbox, or up to 5 in an array; to the sender if absent, `null` or empty. An email can name others.',
    { example: EXAMPLE.replyTo },
  )
  replyTo?: string | string[] | null;

  @Optional(
    defaults,
    'The values of variables that an email does not give, up to 256 KiB as JSON and 32 levels.',
    {
      example: EXAMPLE.defaults,
    },
  )
  defaults?: JsonObject;

  @Optional(
    flag,
    'Whether its emails have an unsubscribe link, which `{{unsubscribeUrl}}` prints, and are not sent to recipients who have unsubscribed. An email can override it.',
    { example: false },
  )
  unsubscribe = false;
}

/** The body of the call that changes a template. */
export class UpdateTemplateRequest {
  @Optional(name, 'A new name; emails that give the old one are refused.')
  name?: string;

  @Optional(subject, 'The subject line, in the template language.', { example: EXAMPLE.subject })
  subject?: string;

  @Optional(html, 'The HTML, in the template language, up to 5 MiB.', { example: EXAMPLE.html })
  html?: string;

  @Optional(from, 'The sender of its emails; without a name in it, the name stays.', {
    example: EXAMPLE.from,
  })
  from?: string;

  @Removable(fromName, 'The name of the sender; it wins over a name in `from`. `null`: none.')
  fromName?: string | null;

  @Removable(
    text,
    'The plain text, in the template language, up to 5 MiB. `null` or empty: made from the HTML.',
  )
  text?: string | null;

  @Removable(
    previewText,
    'What the inbox shows after the subject, in the template language. `null` or empty: nothing of its own.',
  )
  previewText?: string | null;

  @Removable(
    replyTo,
    'Where replies go: one mailbox, or up to 5 in an array. `null` or empty: to the sender.',
  )
  replyTo?: string | string[] | null;

  @Optional(
    defaults,
    'The values of variables that an email does not give, up to 256 KiB as JSON and 32 levels; replaces all previous ones.',
  )
  defaults?: JsonObject;

  @Optional(
    flag,
    'Whether its emails have an unsubscribe link, and are not sent to recipients who have unsubscribed.',
  )
  unsubscribe?: boolean;
}

/** Refuses tags, too: outside the template language, they would be sent as they are. */
function untagged(rule: Rule): Rule {
  return makeRule(rule.schema, (value, field) => {
    const isTagged = [value].flat().some((item) => typeof item === 'string' && item.includes('{{'));
    return isTagged
      ? `\`${field}\` has a tag (\`{{\`), but only subject, HTML, text and preview text are in the template language; write what is to be shown`
      : rule(value, field);
  });
}
