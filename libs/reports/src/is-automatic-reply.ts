import type { ReceivedMail } from './report-listener.ts';

/** Everything before the first empty line; more than this is no header of a mail client. */
const MAX_HEADER_BYTES = 32 * 1024;
const END_OF_HEADERS = /\r?\n\r?\n/;
/** RFC 3834, section 5. Mail clients may call what they send by themselves for a person `auto-generated`. */
const AUTO_REPLIED = /^Auto-Submitted:[ \t]*(?:\r?\n[ \t]+)?auto-replied\b/im;

/**
 * Whether nobody wished for a mail: a program answers another mail with it (RFC 3834), or it notifies of what became of one (RFC 5321, section 4.5.5). Such
 * mail arrives at an address that was forged as the sender of something else.
 */
export function isAutomaticReply({ sender, beginning }: ReceivedMail): boolean {
  if (sender === '') return true;
  const [headers] = beginning.toString('latin1', 0, MAX_HEADER_BYTES).split(END_OF_HEADERS, 1);
  return AUTO_REPLIED.test(headers!);
}
