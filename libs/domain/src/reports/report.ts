import type { SmtpReply, SmtpStage } from '../delivery.ts';
import { addressKey } from '../mailbox.ts';
import type { RecipientAction, RecipientStatus, ReturnedMail } from './returned-mail.ts';

/** The kinds of reports about an email; only the first report of each kind counts. */
const REPORT_KINDS = {
  failed: 'a server gave it up',
  delayed: 'a server has it and tries again',
  delivered: 'the receiving server took it',
  complaint: 'the recipient reported it as unwanted',
  unrecognised: 'nothing that is understood',
} as const;

export type ReportKind = keyof typeof REPORT_KINDS;

/** All kinds, in the order of the documents. */
export const REPORT_KIND_NAMES = Object.keys(REPORT_KINDS) as ReportKind[];

/** A report about one email. */
export interface Report {
  readonly kind: ReportKind;
  /** The quoted reply of a server; absent: none is quoted. */
  readonly reply?: SmtpReply;
  /** The stage of the session at which the server gave that reply. */
  readonly stage?: SmtpStage;
  /** Whether it is about the email's own recipient, not about somebody to whom the mail was forwarded. */
  readonly isAboutRecipient: boolean;
  /** The reporting server, if it is named. */
  readonly reportedBy?: string;
  /** A keyword with further details. */
  readonly reason?: string;
}

/** Feedback types (RFC 5965, section 7.3) by which a recipient says that the email is not wanted. `not-spam` says the opposite. */
const COMPLAINTS: readonly string[] = ['abuse', 'fraud', 'opt-out'];

/** If an email was forwarded to several recipients, the best outcome counts. */
const ACTIONS_BEST_FIRST: readonly RecipientAction[] = [
  'delivered',
  'expanded',
  'relayed',
  'delayed',
  'failed',
];

/** The kind of report of each action. A server that relayed or expanded an email does not know what became of it. */
const KIND_OF_ACTION: Readonly<Record<RecipientAction, ReportKind>> = {
  failed: 'failed',
  delayed: 'delayed',
  delivered: 'delivered',
  relayed: 'unrecognised',
  expanded: 'unrecognised',
};

/**
 * What a returned mail reports about the email.
 *
 * @param recipient the address that the email was sent to
 */
export function reportAbout(recipient: string, mail: ReturnedMail): Report {
  switch (mail.type) {
    case 'unrecognised':
      return { kind: 'unrecognised', isAboutRecipient: true, reason: mail.reason };
    case 'feedback':
      return { ...feedback(mail.feedbackType), ...reporterOf(mail), isAboutRecipient: true };
    case 'delivery':
      return { ...delivery(recipient, mail.statuses), ...reporterOf(mail) };
  }
}

function feedback(type: string): Pick<Report, 'kind' | 'reason'> {
  return { kind: COMPLAINTS.includes(type) ? 'complaint' : 'unrecognised', reason: type };
}

function delivery(recipient: string, statuses: readonly RecipientStatus[]): Report {
  const own = statuses.filter(({ recipients }) => recipients.some((named) => isSame(named, recipient)));
  const nameless = statuses.filter(({ recipients }) => recipients.length === 0);
  const best = bestOf([own, nameless].find((group) => group.length > 0) ?? statuses);
  if (best === undefined) return { kind: 'unrecognised', isAboutRecipient: true, reason: 'no_status' };
  const { action, reply, stage } = best;
  const final = best.recipients.at(-1);
  const kind = KIND_OF_ACTION[action];
  return {
    kind,
    reply,
    stage,
    isAboutRecipient: final === undefined || isSame(final, recipient),
    ...(kind === 'unrecognised' ? { reason: action } : {}),
  };
}

function bestOf(statuses: readonly RecipientStatus[]): RecipientStatus | undefined {
  return ACTIONS_BEST_FIRST.map((action) => statuses.find((status) => status.action === action)).find(
    (status) => status !== undefined,
  );
}

/** Ignores case, because servers change it; the suppression list does too. The domain may be in punycode or not. */
function isSame(one: string, other: string): boolean {
  return addressKey(one).toLowerCase() === addressKey(other).toLowerCase();
}

function reporterOf({ reportedBy }: { readonly reportedBy?: string }): { reportedBy?: string } {
  return reportedBy === undefined ? {} : { reportedBy };
}
