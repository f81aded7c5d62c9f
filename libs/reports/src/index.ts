export { isAutomaticReply } from './is-automatic-reply.ts';
export { readReturnedMail } from './read-returned-mail.ts';
export { type Certificate, type MailReceiver, ReportListener } from './report-listener.ts';
