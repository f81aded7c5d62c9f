import { type EmailId, RELEASE, sleep } from '@posthorn/kernel';
import {
  decideAfterReport,
  type Report,
  reportAbout,
  type ReportVerdict,
  type ReturnedMail,
} from '@posthorn/domain';
import type { AssessedReport, ReportedEmail, ReportStore } from '@posthorn/database';
import { inboundReports } from '@posthorn/platform';
import type { readReturnedMail } from '@posthorn/reports';
import type { BounceAddresses } from '@posthorn/signing';

/** A relay can send a report before its answer to the email itself is recorded; recording takes less than this. */
const WAITS = { times: 10, ms: 200 };

const SIGNED_BY_NONE =
  'no key in ENCRYPTION_KEYS has signed the address it was for: a key is missing there, or somebody forged it';

interface TakeReportOptions {
  readonly addresses: Pick<BounceAddresses, 'emailOf' | 'hasForm'>;
  readonly reports: Pick<ReportStore, 'knows' | 'record'>;
  readonly read: typeof readReturnedMail;
  readonly onError: (error: Error) => void;
}

/** Receives returned mail about an email, and acts on what it reports. */
export class TakeReport {
  constructor(private readonly options: TakeReportOptions) {}

  /** The email that this return address belongs to; undefined: there is no such address. @throws what the database throws */
  async findEmail(address: string): Promise<EmailId | undefined> {
    const { addresses, reports, onError } = this.options;
    const id = addresses.emailOf(address);
    if (id === undefined && addresses.hasForm(address)) onError(new Error(SIGNED_BY_NONE));
    return id !== undefined && (await reports.knows(id)) ? id : undefined;
  }

  /**
   * Records a report about an email; idempotent.
   *
   * @param beginning the beginning of the mail
   * @returns false when it cannot be recorded yet, because the email is still being transmitted
   * @throws what the database throws
   */
  async take(id: EmailId, beginning: Buffer): Promise<boolean> {
    const mail = await this.options.read(beginning);
    for (let waited = 0; waited < WAITS.times; waited += 1) {
      if (await this.isRecorded(id, mail)) return true;
      await sleep(WAITS.ms);
    }
    return false;
  }

  private async isRecorded(id: EmailId, mail: ReturnedMail): Promise<boolean> {
    let report: Report | undefined;
    const outcome = await this.options.reports.record(id, (email) => {
      report = reportAbout(email.recipient, mail);
      return assess(report, email);
    });
    if (outcome === 'recorded' && report !== undefined) inboundReports.inc({ kind: report.kind });
    return outcome !== 'under_way';
  }
}

function assess(report: Report, { status }: ReportedEmail): AssessedReport {
  const verdict = decideAfterReport(report, status);
  return { kind: report.kind, verdict, detail: detailOf(report, verdict) };
}

/** The details for the timeline. */
function detailOf({ reply, reportedBy, reason }: Report, verdict: ReportVerdict): object {
  return {
    ...(reply && { reply }),
    ...(verdict.class !== undefined && { class: verdict.class }),
    ...(reportedBy !== undefined && { reportedBy }),
    ...(reason !== undefined && { reason }),
    release: RELEASE,
  };
}
