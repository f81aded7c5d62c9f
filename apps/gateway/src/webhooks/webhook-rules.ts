import { closestName } from '@posthorn/kernel';
import { EVENT_NAMES, faultInWebhookUrl, isEventName, SIZES } from '@posthorn/domain';
import { nameSchema } from '../openapi/json-schema.ts';
import { kindOf, makeRule, type Rule } from '../validation/rule.ts';
import { lengthFault, sizeFault } from '../validation/sizes.ts';
import { text } from '../validation/text-rules.ts';

const MIN_TOKEN_CHARACTERS = 8;
/** Bounds the array even though repeated names count once. */
const MAX_NAMES = { max: 100, unit: 'items' } as const;
const MAX_SHOWN = 5;

/**
 * An absolute http or https URL; which targets are allowed is the operator's policy. No `format: uri` (RFC 3986, ASCII only), since
 * internationalised hosts such as `https://bücher.example/` are accepted.
 */
export const webhookUrl: Rule = text(
  {
    minLength: 1,
    maxLength: SIZES.webhookUrl.max,
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s#]+$',
    examples: ['https://example.com/webhooks'],
  },
  (value) => lengthFault(value, SIZES.webhookUrl) ?? faultInWebhookUrl(value),
);

/** The secret that deliveries are signed with. */
export const webhookToken: Rule = text(
  { minLength: MIN_TOKEN_CHARACTERS, maxLength: SIZES.webhookToken.max, pattern: '^[ -~]*$' },
  (value) => {
    if (value.length < MIN_TOKEN_CHARACTERS)
      return `has ${value.length} characters; give ${MIN_TOKEN_CHARACTERS} to ${SIZES.webhookToken.max}`;
    const tooLong = lengthFault(value, SIZES.webhookToken);
    if (tooLong !== undefined) return tooLong;
    return /^[ -~]*$/.test(value)
      ? undefined
      : 'holds a character that is not printable ASCII; give letters, digits and punctuation';
  },
);

/** One or more names of events. */
export const eventNames: Rule = makeRule(
  {
    type: 'array',
    items: nameSchema('EventName', { type: 'string', enum: EVENT_NAMES }),
    minItems: 1,
    maxItems: MAX_NAMES.max,
    examples: [['CONTACT_CREATED', 'CONTACT_UPDATED']],
  },
  (value, field) => {
    if (!Array.isArray(value))
      return `\`${field}\` is ${kindOf(value)}; give an array of one or more of ${QUOTED_EVENT_NAMES}`;
    if (value.length === 0) return `\`${field}\` is empty; give one or more of ${QUOTED_EVENT_NAMES}`;
    const tooMany = sizeFault(value.length, MAX_NAMES);
    if (tooMany !== undefined) return `\`${field}\` ${tooMany}`;
    const faults = value.flatMap((item: unknown, index) => faultInName(item, `${field}[${index}]`) ?? []);
    if (faults.length === 0) return undefined;
    return `${faults.slice(0, MAX_SHOWN).join('; ')}; give only names out of ${QUOTED_EVENT_NAMES}`;
  },
);

const QUOTED_EVENT_NAMES = EVENT_NAMES.map((name) => `\`${name}\``).join(', ');

function faultInName(item: unknown, path: string): string | undefined {
  if (typeof item !== 'string') return `\`${path}\` is ${kindOf(item)}`;
  if (isEventName(item)) return undefined;
  const closest = closestName(item, EVENT_NAMES);
  return `\`${path}\` is not the name of an event${closest === undefined ? '' : `, perhaps \`${closest}\` is meant`}`;
}
