import { type EmailId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { Report } from '@posthorn/domain';
import type { EmailRecord, EmailStore, ReportStore } from '@posthorn/database';
import { RecordReport } from './record-report.ts';

/** The relay's answer must be recorded first. */
export const STILL_TRANSMITTED = new Refusal(
  409,
  'The email is being transmitted at the moment; give the report again in a few seconds',
);

interface ReportEmailOptions {
  readonly emails: Pick<EmailStore, 'find'>;
  readonly reports: Pick<ReportStore, 'record'>;
}

/** Acts on what a caller reports about an email, as on returned mail. */
export class ReportEmail {
  private readonly recordReport: RecordReport;

  constructor(private readonly options: ReportEmailOptions) {
    this.recordReport = new RecordReport(options.reports);
  }

  /**
   * Records a report about an email; idempotent.
   *
   * @returns the email afterwards; undefined when the workspace has none with this id
   * @throws Refusal 409 when the email is still being transmitted
   */
  async report(workspaceId: WorkspaceId, id: EmailId, report: Report): Promise<EmailRecord | undefined> {
    const { emails } = this.options;
    if ((await emails.find(workspaceId, id)) === undefined) return undefined;
    if (!(await this.recordReport.record(id, () => report))) throw STILL_TRANSMITTED;
    return emails.find(workspaceId, id);
  }
}
