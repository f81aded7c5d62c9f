import type { EmailId } from '@posthorn/kernel';
import { reportAbout } from '@posthorn/domain';
import type { ReportStore } from '@posthorn/database';
import { inboundMails } from '@posthorn/platform';
import type { MailReceiver, readReturnedMail } from '@posthorn/reports';
import { type AddressesOfEmails, emailOfAddress } from './email-of-address.ts';
import { RecordReport } from './record-report.ts';

interface TakeReportOptions extends AddressesOfEmails {
  readonly reports: Pick<ReportStore, 'knows' | 'record'>;
  readonly read: typeof readReturnedMail;
}

/** Receives returned mail about an email, and acts on what it reports. */
export class TakeReport {
  private readonly recordReport: RecordReport;

  constructor(private readonly options: TakeReportOptions) {
    this.recordReport = new RecordReport(options.reports);
  }

  /** What takes mail to this return path; undefined: there is no such address. @throws what the database throws */
  async receiverOf(address: string): Promise<MailReceiver | undefined> {
    const id = emailOfAddress(address, this.options);
    if (id === undefined || !(await this.options.reports.knows(id))) return undefined;
    return ({ beginning }) => this.take(id, beginning);
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
    const isTaken = await this.recordReport.record(id, ({ recipient }) => reportAbout(recipient, mail));
    if (isTaken) inboundMails.inc({ kind: 'report' });
    return isTaken;
  }
}
