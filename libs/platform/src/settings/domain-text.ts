import { parseMailDomain } from '@posthorn/domain';
import { ValidateBy } from 'class-validator';

/** Beside it the longest address still has room for its local part (RFC 5321, section 4.5.3.1.3). */
const MOST_CHARACTERS = 190;

/** How a domain is described to an operator. */
export const DOMAIN_FORM =
  'one domain in lower case, such as `bounces.example.com`; an internationalised one as punycode';

/** Accepts the name of a domain as the DNS has it. */
export function IsDomainName(): PropertyDecorator {
  return ValidateBy({
    name: 'isDomainName',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isDomainName(value),
      defaultMessage: () => `must be ${DOMAIN_FORM}`,
    },
  });
}

function isDomainName(text: string): boolean {
  const parsed = parseMailDomain(text);
  return 'domain' in parsed && parsed.domain === text && text.length <= MOST_CHARACTERS;
}
