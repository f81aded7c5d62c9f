export { composeMessage, type MessageSource } from './message/compose-message.ts';
export { needsSmtpUtf8, wireAddress, type Mailbox } from './message/mailboxes.ts';
export { UncomposableMessage } from './message/uncomposable-message.ts';
export { HtmlToText, type HtmlToTextOptions } from './html-to-text.ts';
export { withPreviewText } from './preview-text.ts';
export { RenderingFailed, type RenderingFailure } from './rendering-failed.ts';
