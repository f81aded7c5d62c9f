import { FAILURE_CLASSES } from '@posthorn/domain';
import { select } from './fields.ts';
import type { Html } from './html.ts';

/** A select for why an attempt failed. */
export function failureClassField(value: string | undefined): Html {
  const texts = Object.entries(FAILURE_CLASSES).map(([name, meaning]) => [name, `${name}: ${meaning}`]);
  return select('class', 'Failed because of', { texts: { '': 'any', ...Object.fromEntries(texts) }, value });
}
