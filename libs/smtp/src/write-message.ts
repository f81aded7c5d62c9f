import type { Socket } from 'node:net';

const LINE_FEED_AND_DOT = '\n.';
const LINE_FEED = 0x0a;
const DOT = 0x2e;
const END_OF_MESSAGE = Buffer.from('.\r\n');
const PIECE_BYTES = 64 * 1024;

/** The message as sent after DATA: a dot at the beginning of a line is doubled (RFC 5321, section 4.5.2). Its lines must end in CRLF. */
export function dotStuffed(message: Buffer): Buffer {
  if (message[0] !== DOT && !message.includes(LINE_FEED_AND_DOT, 0, 'latin1')) return message;
  // A text of nothing but dots has millions of such lines: no object for each.
  const stuffed = Buffer.allocUnsafe(message.length + dottedLines(message));
  let out = 0;
  for (let at = 0; at < message.length; at += 1) {
    if (isLineDot(message, at)) stuffed[out++] = DOT;
    stuffed[out++] = message[at]!;
  }
  return stuffed;
}

function dottedLines(message: Buffer): number {
  let lines = 0;
  for (let at = 0; at < message.length; at += 1) if (isLineDot(message, at)) lines += 1;
  return lines;
}

function isLineDot(message: Buffer, at: number): boolean {
  return message[at] === DOT && (at === 0 || message[at - 1] === LINE_FEED);
}

/**
 * Writes a message and what ends it (RFC 5321, section 4.1.1.4), both at once if the socket takes that much; else the end only when
 * the rest has left, so that a connection that breaks before is known to have had no whole message. A large message is written in pieces,
 * because a socket does not tell how much of a single write has left.
 *
 * @param message whole lines, each ended by CRLF
 * @param onProgress called when a piece has left
 * @param onWritten called when the end has been written to the socket
 */
export function writeMessage(
  socket: Socket,
  message: Buffer,
  onProgress: () => void,
  onWritten: () => void,
): void {
  const content = dotStuffed(message);
  let at = 0;
  const goOn = (): void => {
    socket.cork();
    let hasRoom = true;
    for (; hasRoom && at < content.length; at += PIECE_BYTES)
      hasRoom = socket.write(content.subarray(at, at + PIECE_BYTES));
    if (hasRoom) {
      socket.write(END_OF_MESSAGE);
      onWritten();
    } else socket.once('drain', left);
    socket.uncork();
  };
  const left = (): void => {
    onProgress();
    goOn();
  };
  goOn();
}
