import { type Mailbox, BARE_ADDRESS_HINT, MAILBOX_HINT, parseMailbox, type Size } from '@posthorn/domain';
import { kindOf, makeRule, type Rule } from './rule.ts';
import { sizeFault } from './sizes.ts';
import { faultIn, text } from './text-rules.ts';

/** One mailbox, `a@b.c` or `Name <a@b.c>`. */
export const mailbox: Rule = text(
  { minLength: 3, maxLength: 1_000, pattern: '@', examples: ['Ada Lovelace <ada@example.com>'] },
  (value) => faultIn(parseMailbox(value)),
  MAILBOX_HINT.replace('one mailbox', 'a string'),
);

/** The one recipient of an email. */
export const recipient: Rule = makeRule(mailbox.schema, (value, field) =>
  Array.isArray(value)
    ? `\`${field}\` is an array; give one recipient as a string; send each their own email, up to 50 in a batch`
    : mailbox(value, field),
);

/** One address, without a name beside it. */
export const address: Rule = text(
  { minLength: 3, maxLength: 1_000, pattern: '@', examples: ['ada@example.com'] },
  (value) => {
    const parsed = parseMailbox(value);
    if ('fault' in parsed) return parsed.fault.replace(MAILBOX_HINT, BARE_ADDRESS_HINT);
    return /[<>]/.test(value) ? `has angle brackets; ${BARE_ADDRESS_HINT}` : undefined;
  },
);

/** Parses a text that {@link mailbox} accepts. */
export function mailboxOf(text: string): Mailbox {
  const parsed = parseMailbox(text);
  if ('fault' in parsed) throw new Error('the mailbox was not validated');
  return parsed.mailbox;
}

/** Parses one or more texts that {@link mailboxes} accepts. */
export function mailboxesOf(texts: string | readonly string[]): Mailbox[] {
  return (typeof texts === 'string' ? [texts] : texts).map(mailboxOf);
}

/** Parses a text that {@link address} accepts: gives its domain in lower-case ASCII. */
export function addressIn(text: string): string {
  return mailboxOf(text).address;
}

/** One mailbox, or an array of 1 to `size.max` of them; with `mayBeEmpty`, also an empty array. */
export function mailboxes(size: Size, { mayBeEmpty = false } = {}): Rule {
  const minItems = mayBeEmpty ? 0 : 1;
  const several = { type: 'array', items: mailbox.schema, minItems, maxItems: size.max };
  return makeRule({ anyOf: [mailbox.schema, several] }, (value, field) => {
    if (!Array.isArray(value))
      return typeof value === 'string'
        ? oneMailbox(value, field)
        : `\`${field}\` is ${kindOf(value)}; give a string or an array of strings`;
    if (value.length < minItems)
      return `\`${field}\` is empty; give 1 to ${size.max} mailboxes or leave it out`;
    const tooMany = sizeFault(value.length, size);
    if (tooMany !== undefined) return `\`${field}\` ${tooMany}`;
    const faults = value.map((item: unknown, index) => mailbox(item, `${field}[${index}]`));
    return faults.filter((fault) => fault !== undefined).join('; ') || undefined;
  });
}

/** The fault of a single text; says how to give several where it holds several. */
function oneMailbox(value: string, field: string): string | undefined {
  return mailbox(value, field)?.replace(/(?<=more than one mailbox; ).*/, 'give several in an array');
}
