import { Refusal } from '@posthorn/kernel';
import { faultInVisibleText } from '@posthorn/domain';

const MAX_REASON_CHARACTERS = 500;

/**
 * A normalised name: one line of visible characters, without surrounding spaces.
 *
 * @param field its name in the refusal
 * @throws Refusal (400) when it is empty, longer than `max` characters, or has invisible characters
 */
export function normaliseName(field: string, text: string, max: number): string {
  const trimmed = text.trim();
  const length = [...trimmed].length;
  if (length < 1 || length > max) {
    throw new Refusal(400, `\`${field}\` has ${length} characters; give 1 to ${max}`);
  }
  const fault = faultInVisibleText(trimmed);
  if (fault !== undefined) throw new Refusal(400, `\`${field}\` ${fault}`);
  return trimmed;
}

/** An operator's reason for a change, normalised and validated like a name. @throws what {@link normaliseName} throws */
export function normaliseReason(text: string): string {
  return normaliseName('reason', text, MAX_REASON_CHARACTERS);
}
