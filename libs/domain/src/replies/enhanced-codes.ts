import type { ReplyClass } from './reply-classes.ts';

/**
 * Enhanced codes (RFC 3463, RFC 7504, RFC 7505, RFC 7372 and the IANA registry) that determine the class by themselves, by subject and
 * detail. Codes that are missing here, such as 7.1 or 4.1, are used for many things: the reply code and the text decide.
 */
const BY_SUBJECT_AND_DETAIL: Readonly<Record<string, ReplyClass>> = {
  '1.1': 'unknown_user',
  '1.2': 'hard_bounce', // no such domain
  '1.3': 'hard_bounce', // no address at all
  '1.6': 'unknown_user', // moved
  '1.7': 'sender',
  '1.8': 'sender',
  '1.10': 'hard_bounce', // a null MX; at Exchange, no such recipient
  '2.2': 'mailbox_full',
  '2.3': 'size',
  '3.1': 'soft_bounce', // the system is full
  '3.2': 'soft_bounce',
  '3.3': 'policy',
  '3.4': 'size',
  '3.5': 'soft_bounce',
  '4.2': 'soft_bounce',
  '4.3': 'soft_bounce',
  '4.5': 'rate_limited',
  '4.6': 'soft_bounce',
  '4.7': 'soft_bounce',
  '5.3': 'rate_limited', // too many recipients
  '6.1': 'content',
  '6.2': 'content',
  '6.3': 'content',
  '6.5': 'content',
  '6.6': 'content',
  '6.7': 'content', // it needs SMTPUTF8
  '6.9': 'content',
  '7.2': 'policy',
  '7.3': 'policy',
  '7.4': 'policy',
  '7.5': 'policy',
  '7.6': 'policy',
  '7.7': 'content', // changed on its way
  '7.8': 'relay', // our credentials
  '7.11': 'relay', // they must be encrypted
  '7.17': 'hard_bounce', // the mailbox is somebody else's now (RFC 7293)
  '7.18': 'hard_bounce', // so is the domain
  '7.20': 'policy', // DKIM
  '7.21': 'policy',
  '7.22': 'policy',
  '7.23': 'policy', // SPF
  '7.24': 'policy',
  '7.25': 'policy', // reverse DNS
  '7.26': 'policy', // neither SPF nor DKIM
  '7.27': 'sender', // the sender's domain has a null MX
  '7.28': 'rate_limited',
  '7.29': 'policy', // ARC
};

/** Microsoft's own codes. */
const MICROSOFT_CODES: readonly (readonly [RegExp, ReplyClass])[] = [
  [/^5\.4\.310$/, 'hard_bounce'], // no such domain
  [/^5\.2\.12[12]$/, 'rate_limited'],
  [/^5\.7\.(5(0[1-3]|1[1-3])|6\d\d|708|750)$/, 'blocked'],
  [/^5\.7\.(509|515|520|124|13[3-6])$/, 'policy'],
  [/^5\.7\.(705|232|233)$/, 'rate_limited'],
];

/** Permanent "unable to route": there is no such host. */
const UNROUTABLE = '5.4.4';

/** The class of an enhanced code; undefined: it is ambiguous. */
export function classOfEnhancedCode(code: string): ReplyClass | undefined {
  if (code === UNROUTABLE) return 'hard_bounce';
  const known = BY_SUBJECT_AND_DETAIL[code.slice(code.indexOf('.') + 1)];
  return known ?? MICROSOFT_CODES.find(([pattern]) => pattern.test(code))?.[1];
}
