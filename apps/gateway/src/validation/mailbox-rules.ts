import { parseMailbox, type Size } from '@posthorn/domain';
import { type Rule } from './rule.ts';
import { sizeFault } from './sizes.ts';
import { text } from './text-rules.ts';

/** One mailbox, `a@b.c` or `Name <a@b.c>`. */
export const mailbox: Rule = text((value) => {
  const parsed = parseMailbox(value);
  return 'fault' in parsed ? parsed.fault : undefined;
});

/** One mailbox, or an array of 1 to `size.most` of them. */
export function mailboxes(size: Size): Rule {
  return (value, field) => {
    if (!Array.isArray(value))
      return typeof value === 'string' ? mailbox(value, field) : otherKind(value, field);
    if (value.length === 0) return `\`${field}\` is empty; give 1 to ${size.most} mailboxes or leave it out`;
    const tooMany = sizeFault(value.length, size);
    if (tooMany !== undefined) return `\`${field}\` ${tooMany}`;
    const faults = value.map((item: unknown, index) => mailbox(item, `${field}[${index}]`));
    return faults.filter((fault) => fault !== undefined).join('; ') || undefined;
  };
}

/** Of the two forms the message needs to offer both. */
function otherKind(value: unknown, field: string): string | undefined {
  return mailbox(value, field)?.replace('give a string', 'give a string or an array of strings');
}
