import { faultInDisplayName, faultInHeaderText, parseTimestamp, type Size } from '@posthorn/domain';
import { kindOf, type Rule } from './rule.ts';
import { charactersIn, bytesIn, sizeFault } from './sizes.ts';

/** A string that the given function finds no fault in (its fault is a predicate to be put after the field's name). */
export function text(faultIn: (value: string) => string | undefined): Rule {
  return (value, field) => {
    const fault = typeof value === 'string' ? faultIn(value) : `is ${kindOf(value)}; give a string`;
    return fault === undefined ? undefined : `\`${field}\` ${fault}`;
  };
}

/** One line of at least one character: it becomes, or could become, the value of a header. */
export function singleLine(size: Size): Rule {
  return text((value) => {
    if (value === '') return 'is empty; give at least 1 character';
    return sizeFault(charactersIn(value, size.most), size) ?? faultInHeaderText(value);
  });
}

/** A text of at most so many characters, of any number of lines, possibly empty. */
export function shortText(size: Size): Rule {
  return text((value) => sizeFault(charactersIn(value, size.most), size));
}

/** The content of an email, measured in octets of UTF-8. */
export function content(size: Size, { mayBeEmpty }: { mayBeEmpty: boolean }): Rule {
  return text((value) => {
    if (value === '' && !mayBeEmpty) return 'is empty; give at least 1 character';
    return sizeFault(bytesIn(value, size.most), size);
  });
}

/** The name beside an address. */
export const displayName: Rule = text(faultInDisplayName);

/** A time (RFC 3339); whether it is too early or too late is judged when it is known that the request is a new one. */
export const timestamp: Rule = text((value) => {
  const parsed = parseTimestamp(value);
  return 'fault' in parsed ? parsed.fault : undefined;
});
