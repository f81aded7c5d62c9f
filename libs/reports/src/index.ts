export { readReturnedMail } from './read-returned-mail.ts';
export { type Certificate, ReportListener } from './report-listener.ts';
