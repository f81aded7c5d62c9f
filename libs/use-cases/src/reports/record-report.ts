import { type EmailId, RELEASE, sleep } from '@posthorn/kernel';
import { decideAfterReport, type Report, type ReportVerdict } from '@posthorn/domain';
import type { AssessedReport, ReportedEmail, ReportStore } from '@posthorn/database';
import { inboundReports } from '@posthorn/platform';

/** A relay can send a report before its answer to the email itself is recorded; recording takes less than this. */
const WAITS = { times: 10, ms: 200 };

/** Acts on reports about emails, and records them. */
export class RecordReport {
  constructor(private readonly reports: Pick<ReportStore, 'record'>) {}

  /**
   * Records a report about an email; idempotent.
   *
   * @param reportOn what is reported about the email
   * @returns false when it cannot be recorded yet, because the email is still being transmitted
   * @throws what the database throws
   */
  async record(id: EmailId, reportOn: (email: ReportedEmail) => Report): Promise<boolean> {
    for (let waited = 0; waited < WAITS.times; waited += 1) {
      if (await this.isRecorded(id, reportOn)) return true;
      await sleep(WAITS.ms);
    }
    return false;
  }

  private async isRecorded(id: EmailId, reportOn: (email: ReportedEmail) => Report): Promise<boolean> {
    let report: Report | undefined;
    const outcome = await this.reports.record(id, (email) => {
      report = reportOn(email);
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
