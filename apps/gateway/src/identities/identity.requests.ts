import { Refusal } from '@posthorn/kernel';
import { parseSendingAddress, parseSendingDomain } from '@posthorn/domain';
import type { IdentityValue } from '@posthorn/use-cases';
import { Optional, type Rule } from '../validation/rule.ts';
import { faultIn, text } from '../validation/text-rules.ts';
import { validateBody } from '../validation/validate-body.ts';

/** The name of a domain alone. */
const sendingDomain: Rule = text(
  { minLength: 3, maxLength: 253, pattern: '\\.', examples: ['example.com'] },
  (value) => faultIn(parseSendingDomain(value)),
);

/** A bare address, without a name beside it. */
const sendingAddress: Rule = text(
  { minLength: 3, maxLength: 320, pattern: '@', examples: ['ada@example.com'] },
  (value) => faultIn(parseSendingAddress(value)),
);

/** The body of the call that adds an identity: one of its fields. */
export class CreateIdentityRequest {
  @Optional(sendingAddress, 'One address, without a name. Give this or `domain`.')
  address?: string;

  @Optional(
    sendingDomain,
    'A domain: every address at it, but not at its subdomains, may be sent from. Give this or `address`.',
  )
  domain?: string;
}

/** Examples for the document; a generated one would have both fields. */
export const CREATE_IDENTITY_EXAMPLES = {
  domain: { summary: 'A domain', value: { domain: 'mail.example.com' } },
  address: { summary: 'One address', value: { address: 'ada@example.com' } },
};

/** Validates the body of the call that adds an identity. @throws Refusal (400) unless it names one address or one domain */
export function validateIdentityRequest(body: unknown): IdentityValue {
  const { address, domain } = validateBody(CreateIdentityRequest, body);
  if (address !== undefined && domain !== undefined)
    throw new Refusal(400, '`address` and `domain` are both given; give one of them');
  if (address !== undefined) return { address };
  if (domain !== undefined) return { domain };
  throw new Refusal(400, '`address` and `domain` are both missing; give one of them');
}
