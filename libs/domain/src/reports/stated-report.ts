import type { SmtpReply } from '../delivery.ts';
import { quotedReply } from './quoted-reply.ts';
import type { Report, ReportKind } from './report.ts';

/** The kinds of reports that a caller can state, with the code of a reply for which none is stated: generic codes, as in `quotedReply`. */
const DEFAULT_CODES = {
  failed: 554,
  delayed: 450,
  delivered: 250,
  complaint: 250,
} as const satisfies Partial<Record<ReportKind, number>>;

type StatedKind = keyof typeof DEFAULT_CODES;

/** All kinds that can be stated, in the order of the documents. */
export const STATED_REPORT_KINDS = Object.keys(DEFAULT_CODES) as StatedKind[];

/** What a caller knows of a server's reply. */
export interface StatedReply {
  readonly code?: number;
  readonly enhancedCode?: string;
  /** In the words of the server or the provider; may begin with the codes. */
  readonly text?: string;
}

/** What a caller says that its provider has reported about an email. */
export interface StatedReport {
  readonly kind: StatedKind;
  readonly reply?: StatedReply | undefined;
  /** Visible text, because it is stored as it is. */
  readonly reportedBy?: string | undefined;
}

/** The report that a caller states; or the fault, if its reply contradicts it. */
export function parseStatedReport({ kind, reply, reportedBy }: StatedReport): Report | { fault: string } {
  const known = reply && replyOf(reply, DEFAULT_CODES[kind]);
  if (known !== undefined && kind !== 'complaint' && known.code < 300 !== (kind === 'delivered')) {
    return {
      fault: `\`reply\` has the code ${known.code}, but \`report\` is \`${kind}\`; correct one of them`,
    };
  }
  return {
    kind,
    isAboutRecipient: true,
    ...(known && { reply: known }),
    ...(reportedBy !== undefined && { reportedBy }),
  };
}

/**
 * Read like a quoted reply, with the enhanced code as its status. A code that the text does not begin with is put before it, and then the enhanced code
 * is that of the reply itself. Undefined: nothing is stated.
 */
function replyOf({ code, enhancedCode, text = '' }: StatedReply, defaultCode: number): SmtpReply | undefined {
  const words = text.trim();
  const quoted = quotedReply(words, enhancedCode);
  if (code === undefined)
    return quoted ?? (words === '' ? undefined : quotedReply(`${defaultCode} ${words}`));
  if (code === quoted?.code) return quoted;
  const codes =
    enhancedCode === undefined || words.startsWith(enhancedCode) ? code : `${code} ${enhancedCode}`;
  return quotedReply(`${codes} ${words}`);
}
