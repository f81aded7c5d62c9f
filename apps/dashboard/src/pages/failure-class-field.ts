import { FAILURE_CLASSES } from '@posthorn/domain';
import { select } from './fields.ts';
import type { Html } from './html.ts';

/** A select for why an attempt failed. */
export function failureClassField(value: string | undefined): Html {
  const texts: Record<string, string> = { '': 'any' };
  for (const [name, meaning] of Object.entries(FAILURE_CLASSES)) texts[name] = `${name}: ${meaning}`;
  return select('class', 'Failed because of', { texts, value });
}
