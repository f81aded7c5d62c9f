import {
  parseStatedReport,
  type Report,
  SIZES,
  STATED_REPORT_KINDS,
  type StatedReply,
  type StatedReport,
} from '@posthorn/domain';
import { Refusal } from '@posthorn/kernel';
import { shapedAs } from '../validation/object-rules.ts';
import { kindOf, makeRule, Optional, Required, type Rule } from '../validation/rule.ts';
import { givenName, oneOfWords, shortText, text } from '../validation/text-rules.ts';
import { validateBody } from '../validation/validate-body.ts';

/** The code of a reply that ends a command (RFC 5321, section 4.2.1). */
const replyCode: Rule = makeRule({ type: 'integer', minimum: 200, maximum: 599 }, (value, field) => {
  const advice = 'give a reply code, 200 to 299 or 400 to 599';
  if (typeof value !== 'number') return `\`${field}\` is ${kindOf(value)}; ${advice}`;
  const isFinal = Number.isInteger(value) && value >= 200 && value <= 599 && Math.floor(value / 100) !== 3;
  return isFinal ? undefined : `\`${field}\` is ${value}; ${advice}`;
});

/** RFC 3463, section 2. */
const ENHANCED_CODE = '^[245]\\.\\d{1,3}\\.\\d{1,3}$';
const enhancedCode: Rule = text({ pattern: ENHANCED_CODE }, (value) =>
  new RegExp(ENHANCED_CODE).test(value) ? undefined : 'is no enhanced status code; give one as in `5.1.1`',
);

/** What a server answered to the provider. */
class ReportedReply implements StatedReply {
  @Optional(
    replyCode,
    'The reply code (RFC 5321, section 4.2). If absent, it is taken from `text` or `enhancedCode`.',
    {
      example: 550,
    },
  )
  code?: number;

  @Optional(enhancedCode, 'The enhanced status code (RFC 3463).', { example: '5.1.1' })
  enhancedCode?: string;

  @Optional(
    shortText(SIZES.replyText),
    'What the server or the provider said; up to 512 characters are kept, without control characters.',
    { example: 'smtp; 550 5.1.1 No such user here' },
  )
  text?: string;
}

/** The body of the call that reports what became of an email. */
export class ReportEmailRequest {
  @Required(
    oneOfWords('StatedReportKind', STATED_REPORT_KINDS),
    '`failed`: a server or the provider gave it up; `delayed`: it is tried again; `delivered`: the receiving server took it; `complaint`: the recipient reported it as unwanted.',
    { example: 'failed' },
  )
  report!: StatedReport['kind'];

  @Optional(
    shapedAs(ReportedReply),
    'What the receiving server answered, or the provider said. It decides whether a failure is `BOUNCED` or `FAILED`, and whether the recipient is suppressed; without it, a failure is `FAILED`.',
    { example: { code: 550, enhancedCode: '5.1.1', text: 'No such user here' } },
  )
  reply?: ReportedReply;

  @Optional(givenName(SIZES.reportedBy), 'Who reported it, for the timeline.', { example: 'Amazon SES' })
  reportedBy?: string;
}

/** Validates what is reported about an email. @throws Refusal (400) */
export function validateReport(body: unknown): Report {
  const { report, ...stated } = validateBody(ReportEmailRequest, body);
  const parsed = parseStatedReport({ ...stated, kind: report });
  if ('fault' in parsed) throw new Refusal(400, parsed.fault);
  return parsed;
}
