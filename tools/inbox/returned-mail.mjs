import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport } from 'nodemailer';

/** Recipients about whom a report comes back after their mail was accepted, to try out reports: by the local part of the address, up to a `+`. */
const REPORTED = new Map([
  [
    'bounced-later',
    (to) => deliveryReport(to, { action: 'failed', status: '5.1.1', reply: '550 5.1.1 No such user here' }),
  ],
  ['delivered', (to) => deliveryReport(to, { action: 'delivered', status: '2.0.0', reply: '250 2.0.0 Ok' })],
  ['complained', () => complaint()],
]);

/** Servers report after a while, never before the sender has heard that its mail was accepted. */
const REPORTED_AFTER_MS = 1_000;
/** Before each further try, while nobody can receive the report. */
const RETRY_DELAYS_MS = [1_000, 2_000, 5_000, 10_000, 30_000];
const BOUNDARY = '=_report';

/** Sends the reports about accepted mails that a receiving server and a mailbox provider would send to their envelope sender. */
export class ReturnedMail {
  #transport;

  /** @param {number} port where the envelope senders' mail is received on this machine, over SMTP */
  constructor(port) {
    this.#transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  }

  /**
   * Reports what the recipients' local parts say, in the background.
   *
   * @param {{ from: string, to: string[] }} envelope of an accepted mail
   * @param {Buffer} source its bytes
   */
  reportOn({ from, to }, source) {
    // The null sender: nothing may be returned (RFC 5321, section 4.5.5).
    if (from === '') return;
    for (const recipient of to) {
      const report = REPORTED.get(nameOf(recipient))?.(recipient);
      if (report !== undefined) void this.#send(from, [...report, ...quotedHeaders(source)].join('\r\n'));
    }
  }

  async #send(to, raw) {
    await sleep(REPORTED_AFTER_MS, undefined, { ref: false });
    for (const delayMs of [...RETRY_DELAYS_MS, undefined]) {
      try {
        return await this.#transport.sendMail({ envelope: { from: '', to: [to] }, raw });
      } catch (error) {
        // 5xx: a further try would be refused, too.
        if (error.responseCode >= 500 || delayMs === undefined)
          return process.stderr.write(`A report was not returned to ${to}: ${error.message}\n`);
        await sleep(delayMs, undefined, { ref: false });
      }
    }
  }
}

/** The name that a recipient is tried out by: its local part, up to a `+`. @param {string} address */
export function nameOf(address) {
  const [name = ''] = address.split(/[@+]/, 1);
  return name.toLowerCase();
}

/** A delivery status notification (RFC 3464) up to the message that it is about. */
function deliveryReport(to, { action, status, reply }) {
  return [
    ...reportHeaders('mailer-daemon@inbox.localhost', 'Delivery Status Notification', 'delivery-status'),
    `What became of your mail to <${to}>: ${reply}`,
    '',
    `--${BOUNDARY}`,
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; inbox.localhost',
    '',
    `Final-Recipient: rfc822; ${to}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${reply}`,
    '',
  ];
}

/** A feedback report (RFC 5965) up to the message that it is about. */
function complaint() {
  return [
    ...reportHeaders('complaints@inbox.localhost', 'Complaint', 'feedback-report'),
    'The recipient says that this mail is spam.',
    '',
    `--${BOUNDARY}`,
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: Posthorn-Inbox/1',
    'Version: 1',
    '',
  ];
}

function reportHeaders(from, subject, reportType) {
  return [
    `From: <${from}>`,
    `Subject: ${subject}`,
    `Date: ${new Date().toUTCString().replace('GMT', '+0000')}`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=${reportType}; boundary="${BOUNDARY}"`,
    '',
    `--${BOUNDARY}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
  ];
}

/** The end of a report: the headers of the message that it is about. @param {Buffer} source */
function quotedHeaders(source) {
  const end = source.indexOf('\r\n\r\n');
  const headers = source.toString('utf8', 0, end === -1 ? source.length : end);
  return [`--${BOUNDARY}`, 'Content-Type: text/rfc822-headers', '', headers, '', `--${BOUNDARY}--`, ''];
}
