export { isAutomaticReply } from './is-automatic-reply.ts';
export { readReturnedMail } from './read-returned-mail.ts';
export { type Certificate, type MailReceiver, type ReceivedMail, ReportListener } from './report-listener.ts';
