import { Refusal } from '@posthorn/kernel';
import { faultInVisibleText } from '@posthorn/domain';

const MAX_REASON_CHARACTERS = 500;

/**
 * A name as it is kept: one line that can be seen, without spaces around it.
 *
 * @param field what the caller knows it as
 * @throws Refusal (400) when it is empty, longer than `max` characters, or holds what cannot be seen
 */
export function nameIn(field: string, text: string, max: number): string {
  const trimmed = text.trim();
  const length = [...trimmed].length;
  if (length < 1 || length > max) {
    throw new Refusal(400, `\`${field}\` has ${length} characters; give 1 to ${max}`);
  }
  const fault = faultInVisibleText(trimmed);
  if (fault !== undefined) throw new Refusal(400, `\`${field}\` ${fault}`);
  return trimmed;
}

/** Why an operator does something, as it is kept; judged like a name. @throws what {@link nameIn} does */
export function reasonIn(text: string): string {
  return nameIn('reason', text, MAX_REASON_CHARACTERS);
}
