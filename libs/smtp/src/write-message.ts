import type { Socket } from 'node:net';

const LINE_FEED_AND_DOT = '\n.';
const DOT = Buffer.from('.');
const END_OF_MESSAGE = Buffer.from('.\r\n');

/** The message as it stands after DATA: a dot at the beginning of a line is doubled (RFC 5321, section 4.5.2). Its lines end in CRLF. */
export function dotStuffed(message: Buffer): Buffer {
  const parts: Buffer[] = message.subarray(0, DOT.length).equals(DOT) ? [DOT] : [];
  let copied = 0;
  for (;;) {
    const at = message.indexOf(LINE_FEED_AND_DOT, copied, 'latin1');
    if (at < 0) break;
    parts.push(message.subarray(copied, at + LINE_FEED_AND_DOT.length), DOT);
    copied = at + LINE_FEED_AND_DOT.length;
  }
  return parts.length === 0 ? message : Buffer.concat([...parts, message.subarray(copied)]);
}

/**
 * Writes a message and what ends it (RFC 5321, section 4.1.1.4), both at once if the socket takes that much; else the end only when
 * the rest has left, so that a connection that breaks before is known to have had no whole message.
 *
 * @param message whole lines, each ended by CRLF
 * @param onWritten told when the end has been handed to the socket
 */
export function writeMessage(socket: Socket, message: Buffer, onWritten: () => void): void {
  const end = (): void => {
    socket.write(END_OF_MESSAGE);
    onWritten();
  };
  socket.cork();
  if (socket.write(dotStuffed(message))) end();
  else socket.once('drain', end);
  socket.uncork();
}
