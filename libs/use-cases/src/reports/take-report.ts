import type { EmailId } from '@posthorn/kernel';
import { reportAbout } from '@posthorn/domain';
import type { ReportStore } from '@posthorn/database';
import type { readReturnedMail } from '@posthorn/reports';
import type { BounceAddresses } from '@posthorn/signing';
import { RecordReport } from './record-report.ts';

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
  private readonly recordReport: RecordReport;

  constructor(private readonly options: TakeReportOptions) {
    this.recordReport = new RecordReport(options.reports);
  }

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
    return this.recordReport.record(id, ({ recipient }) => reportAbout(recipient, mail));
  }
}
