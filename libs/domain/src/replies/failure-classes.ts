import { REPLY_CLASS_NAMES, REPLY_CLASSES, type ReplyClass } from './reply-classes.ts';

/** Why an attempt failed: the class of the reply, or that there was none. */
export type FailureClass = Exclude<ReplyClass, 'sent'> | 'no_reply' | 'other';

const REPLIES = REPLY_CLASS_NAMES.filter((name) => name !== 'sent').map(
  (name) => [name, REPLY_CLASSES[name].meaning] as const,
);

/** The meaning of each class, in the order of the documents. */
export const FAILURE_CLASSES = {
  ...Object.fromEntries(REPLIES),
  no_reply: 'the connection failed, or the relay did not answer',
  other: 'no relay was asked, or a report gave no reply: see the timeline',
} as Readonly<Record<FailureClass, string>>;
