import { isBeforeAnyEmail, type Transmission } from '@posthorn/domain';

/** Of a relay that takes so many messages over a connection, and leaves it open: `452 4.4.5 Maximum number of messages per session exceeded.` (Stalwart, at DATA). */
const MENTIONS_CONNECTION = /\b(per|(in|for|over) (this|one|a single)) (smtp )?(session|connection)\b/i;

/** Whether the relay refuses anything more over this connection. */
function isUsedUp(transmission: Transmission): boolean {
  return (
    transmission.kind === 'refused' &&
    transmission.reply.code < 500 &&
    MENTIONS_CONNECTION.test(transmission.reply.text)
  );
}

/** Whether a reused connection turned out to be closed, dead or used up: then the relay has accepted nothing and given no verdict, so a new connection may be tried. */
export function wasStale(transmission: Transmission): boolean {
  return (
    isUsedUp(transmission) ||
    (transmission.kind === 'broken' && transmission.stage === 'mail') ||
    (transmission.kind === 'refused' && transmission.stage === 'mail' && transmission.reply.code === 421)
  );
}

/** Whether the relay temporarily rejects the connection as such, before or at MAIL. */
export function isConnectionRefused(transmission: Transmission): boolean {
  return (
    transmission.kind === 'refused' &&
    ((isBeforeAnyEmail(transmission.stage) && transmission.reply.code < 500) ||
      (transmission.stage === 'mail' && transmission.reply.code === 421))
  );
}

/** Whether the relay, or something in front of it, has closed the connection without a word, or keeps it waiting. (At STARTTLS, and while connecting, the cause may be a certificate or a name.) */
export function isConnectionDropped(transmission: Transmission): boolean {
  return (
    transmission.kind === 'broken' && (transmission.stage === 'greeting' || transmission.stage === 'ehlo')
  );
}
