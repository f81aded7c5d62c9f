export { readReturnedMail } from './read-returned-mail.ts';
export { ReportListener, type ReportListenerOptions } from './report-listener.ts';
