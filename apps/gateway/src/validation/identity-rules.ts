import { parseSendingAddress, parseSendingDomain } from '@posthorn/domain';
import type { Rule } from './rule.ts';
import { text } from './text-rules.ts';

/** The name of a domain alone. */
export const sendingDomain: Rule = text(
  { minLength: 3, maxLength: 253, pattern: '\\.', examples: ['example.com'] },
  (value) => {
    const parsed = parseSendingDomain(value);
    return 'fault' in parsed ? parsed.fault : undefined;
  },
);

/** A bare address, without a name beside it. */
export const sendingAddress: Rule = text(
  { minLength: 3, maxLength: 320, pattern: '@', examples: ['ada@example.com'] },
  (value) => {
    const parsed = parseSendingAddress(value);
    return 'fault' in parsed ? parsed.fault : undefined;
  },
);
