import { sanitizeText, type SmtpReply, type SmtpStage, type Transmission } from '@posthorn/domain';
import { describeError, isFaultOfOurs } from './connection-fault.ts';
import { readReply, type Redaction } from './reply.ts';

/**
 * What is being waited for: a connection (or TLS handshake), the greeting, the first reply over a reused connection, the reply to another command, or the
 * reply to the message content.
 */
export type Wait = 'connection' | 'greeting' | 'reused' | 'command' | 'content';

/** An entry of nodemailer's transaction log. */
interface LogEntry {
  readonly tnx?: unknown;
  readonly remoteAddress?: unknown;
}

const STAGE_OF_COMMAND: readonly (readonly [RegExp, SmtpStage])[] = [
  [/^(EHLO|HELO) /, 'ehlo'],
  [/^STARTTLS$/, 'starttls'],
  [/^AUTH /, 'auth'],
  [/^MAIL FROM:/, 'mail'],
  [/^RCPT TO:/, 'rcpt'],
  [/^DATA$/, 'data'],
];

/**
 * Which reply codes let the dialogue continue at each stage. At DATA only 354 does: if the server has sent one reply too many, a 250 there is really the reply to
 * RCPT, all later replies are off by one, and an email that the server refuses would count as sent. The few servers that reply to DATA with 250 get no email.
 */
const IS_POSITIVE: Readonly<Record<SmtpStage, (code: number) => boolean>> = {
  connect: () => false,
  greeting: (code) => code === 220,
  ehlo: (code) => code < 300,
  starttls: (code) => code < 300,
  auth: (code) => code < 400,
  mail: (code) => code < 300,
  rcpt: (code) => code < 300,
  data: (code) => code === 354,
  content: (code) => code < 300,
};

/**
 * Tracks the SMTP dialogue on one connection and determines the outcome of each message. It reads nodemailer's transaction log, because nodemailer's errors do not
 * tell at which stage a connection was lost.
 */
export class Dialogue {
  private stage: SmtpStage = 'connect';
  /** Commands without a reply yet, in order; with PIPELINING (RFC 2920) there may be several. */
  private awaited: SmtpStage[] = [];
  /** The first fault; later ones are only its consequences. */
  private fault: Transmission | undefined;
  private finalReply: SmtpReply | undefined;
  private messages = 0;
  private messageBegun = false;
  private messageWritten = false;
  /** Whether the server supports non-ASCII addresses (RFC 6531). */
  offersSmtpUtf8 = false;

  /** The logger for nodemailer. */
  readonly log = {
    debug: (entry: LogEntry, text: string): void => this.note(entry, text),
    info: (entry: LogEntry, text: string): void => this.note(entry, text),
  };

  /** @param onProgress called after each command and reply, and when a part of a message has left */
  constructor(
    private readonly redact: Redaction,
    readonly onProgress: () => void,
  ) {}

  /** Resets the state for the next message. */
  beginMessage(): void {
    this.messages += 1;
    this.stage = 'mail';
    this.awaited = [];
    this.fault = undefined;
    this.finalReply = undefined;
    this.messageBegun = false;
    this.messageWritten = false;
  }

  /** Whether something went wrong with the message. */
  get hasFailed(): boolean {
    return this.fault !== undefined;
  }

  /** Whether no reply is outstanding and no message half written, so that another message may follow. */
  get isIdle(): boolean {
    return this.awaited.length === 0 && this.messageBegun === this.messageWritten;
  }

  /** What is being waited for; undefined: nothing. */
  get wait(): Wait | undefined {
    const [awaited] = this.awaited;
    if (awaited === 'greeting' || awaited === 'content') return awaited;
    if (awaited !== undefined) return awaited === 'mail' && this.messages > 1 ? 'reused' : 'command';
    return this.stage === 'connect' || this.stage === 'starttls' ? 'connection' : undefined;
  }

  /** The outcome of the message, or of the attempt to connect, which has ended with this error or without one. */
  outcome(error: Error | undefined): Transmission {
    if (this.fault !== undefined) return this.fault;
    const text = sanitizeText(
      this.redact(
        error ? describeError(error) : 'the server answered before the message was written to its end',
      ),
    );
    if (!this.messageWritten) {
      const whose = error && isFaultOfOurs(error) ? { isOurs: true as const } : {};
      return { kind: 'broken', stage: this.stage, error: text, ...whose };
    }
    return this.finalReply !== undefined && error === undefined
      ? { kind: 'accepted', reply: this.finalReply }
      : { kind: 'unknown', error: text };
  }

  /** To be called when a reply has arrived before the message: it would be taken for the reply to it. */
  noteEarlyReply(): void {
    this.fault ??= {
      kind: 'broken',
      stage: 'data',
      error: 'the server answered before the message was sent',
    };
  }

  /** To be called when the last byte of the message, including the final dot, has been passed to the socket. */
  noteMessageWritten(): void {
    this.messageWritten = true;
    this.onProgress();
  }

  private note(entry: LogEntry, text: string): void {
    if (entry.tnx === 'client') this.commandSent(text);
    else if (entry.tnx === 'server') this.replyCame(text);
    else if (entry.tnx === 'network' && entry.remoteAddress !== undefined) this.expect('greeting');
    this.onProgress();
  }

  private expect(stage: SmtpStage): void {
    this.awaited.push(stage);
    this.stage = this.awaited[0]!;
  }

  private commandSent(command: string): void {
    // The lines of an AUTH exchange are base64, which may look like a command.
    const stage =
      this.stage === 'auth' ? 'auth' : STAGE_OF_COMMAND.find(([pattern]) => pattern.test(command))?.[1];
    if (stage === undefined) return;
    // After a refused EHLO comes HELO; only the reply to that counts.
    if (stage === 'ehlo') this.fault = undefined;
    this.expect(stage);
  }

  private replyCame(raw: string): void {
    const stage = this.awaited.shift();
    if (stage === undefined) return;
    this.stage = this.awaited[0] ?? stage;
    if (stage === 'ehlo') this.offersSmtpUtf8 = /^250[ -]SMTPUTF8\b/im.test(raw);
    const reply = readReply(raw, this.redact);
    if (reply === undefined || !IS_POSITIVE[stage](reply.code))
      this.fault ??= this.faultOf(stage, reply, raw);
    else if (stage === 'data') this.contentBegins();
    else if (stage === 'content') this.finalReply = reply;
  }

  private contentBegins(): void {
    this.messageBegun = true;
    this.expect('content');
  }

  private faultOf(stage: SmtpStage, reply: SmtpReply | undefined, raw: string): Transmission {
    if (reply !== undefined && reply.code >= 400) return { kind: 'refused', stage, reply };
    const error = sanitizeText(`an invalid reply at ${stage}: ${this.redact(raw)}`);
    // The server may have accepted the message nevertheless.
    return stage === 'content' && this.messageWritten
      ? { kind: 'unknown', error }
      : { kind: 'broken', stage, error };
  }
}
