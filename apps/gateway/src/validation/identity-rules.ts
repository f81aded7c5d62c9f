import { parseSendingAddress, parseSendingDomain } from '@posthorn/domain';
import type { Rule } from './rule.ts';
import { faultIn, text } from './text-rules.ts';

/** The name of a domain alone. */
export const sendingDomain: Rule = text(
  { minLength: 3, maxLength: 253, pattern: '\\.', examples: ['example.com'] },
  (value) => faultIn(parseSendingDomain(value)),
);

/** A bare address, without a name beside it. */
export const sendingAddress: Rule = text(
  { minLength: 3, maxLength: 320, pattern: '@', examples: ['ada@example.com'] },
  (value) => faultIn(parseSendingAddress(value)),
);
