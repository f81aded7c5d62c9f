import type { RecipientStatus } from '@posthorn/domain';
import { reasonBeside, replyInReason, stageInReason, trimmedLines } from './stated-reason.ts';

/** The opening words of bounces that are plain text, for programs. Anything else that is plain text may be from a person. */
const QMAIL_BEGINNING = /^\s*Hi\. This is the qmail-send program at /;
const EXIM_BEGINNING = /^\s*This message was created automatically by mail delivery software/;
/** In qmail's format (QSBMF) a paragraph about a recipient begins with the address. */
const QMAIL_RECIPIENT = /^<([^<>\s]{1,320})>:$/gm;
/** Where the copy of the email begins. */
const COPY = /^--- Below this line is a copy of the message|^------ This is a copy of /m;
const MAX_RECIPIENTS = 50;
/** Both are sent only when a server gives up. */
const PERMANENT_FAILURE = '5.0.0';

/**
 * Parses a bounce without machine-readable fields, as qmail and old releases of Exim write them.
 *
 * @param failed the value of `X-Failed-Recipients`, which Exim adds
 * @returns a status for each recipient for whom a reason is given; none if it is not such a bounce
 */
export function readPlainBounce(text: string, failed: string | undefined): RecipientStatus[] {
  const report = text.slice(0, COPY.exec(text)?.index).replaceAll('\r\n', '\n');
  const lines = trimmedLines(report);
  return recipientsOf(report, failed)
    .slice(0, MAX_RECIPIENTS)
    .flatMap((address) => {
      const reason = reasonBeside(address, lines);
      const reply = reason === undefined ? undefined : replyInReason(reason, PERMANENT_FAILURE);
      if (reply === undefined) return [];
      return [{ action: 'failed', recipients: [address], reply, stage: stageInReason(reason) }];
    });
}

function recipientsOf(report: string, failed: string | undefined): string[] {
  if (QMAIL_BEGINNING.test(report))
    return [...report.matchAll(QMAIL_RECIPIENT)].map(([, address]) => address!);
  if (failed === undefined || !EXIM_BEGINNING.test(report)) return [];
  return failed.split(',').map((address) => address.trim());
}
