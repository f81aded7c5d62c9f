export { readReturnedMail } from './read-returned-mail.ts';
export { type ReceivingLimits, ReportListener, type ReportListenerOptions } from './report-listener.ts';
