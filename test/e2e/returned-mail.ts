/** A delivery status notification (RFC 3464) about a recipient. */
export function notification(
  { to }: { readonly to: string },
  action: string,
  status: string,
  diagnostic: string,
): string {
  return [
    'From: Mail Delivery System <mailer-daemon@mx.example.net>',
    'Subject: Delivery Status Notification',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'What became of your message.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.example.net',
    '',
    `Final-Recipient: rfc822; ${to}`,
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${diagnostic}`,
    '--b--',
    '',
  ].join('\r\n');
}

/** A complaint (RFC 5965). */
export const complaint = (): string =>
  [
    'From: <fbl@provider.example>',
    'Subject: complaint',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary=b',
    '',
    '--b',
    'Content-Type: message/feedback-report',
    '',
    'Feedback-Type: abuse',
    'User-Agent: Provider-FBL/1.0',
    'Version: 1',
    '--b--',
    '',
  ].join('\r\n');
