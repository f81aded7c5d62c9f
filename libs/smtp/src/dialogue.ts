import { boundText, type SmtpReply, type SmtpStage, type Transmission } from '@posthorn/domain';
import { describeError, isFaultOfOurs } from './connection-fault.ts';
import { readReply, type Redaction } from './reply.ts';

/** What takes its time: making a connection, be it the TLS handshake alone; the greeting; the answer to a command; that to a message. */
export type Wait = 'connection' | 'greeting' | 'command' | 'content';

/** An entry of the mailer's transaction log. */
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
 * Which codes let the dialogue go on. Only 354 asks for the message: after one reply too many, the 250 at DATA is the answer to RCPT, and what then seems to be
 * that to the message may be to anything, so that an email which the server refused would count as sent. The few servers that ask by 250 get none.
 */
const GOES_ON: Readonly<Record<SmtpStage, (code: number) => boolean>> = {
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
 * Follows what is said on one connection and tells what became of a message. It listens to the mailer's transaction
 * log, because its errors don't tell at which stage a connection was lost.
 */
export class Dialogue {
  private stage: SmtpStage = 'connect';
  /** Commands that were sent and are not answered yet, in order; several of them with PIPELINING (RFC 2920). */
  private awaited: SmtpStage[] = [];
  /** The first thing that went wrong; what follows from it is of no interest. */
  private fault: Transmission | undefined;
  private finalReply: SmtpReply | undefined;
  private messageBegun = false;
  private messageWritten = false;
  /** Whether the server takes addresses beyond ASCII (RFC 6531). */
  offersSmtpUtf8 = false;

  /** To be given to the mailer. */
  readonly log = {
    debug: (entry: LogEntry, text: string): void => this.note(entry, text),
    info: (entry: LogEntry, text: string): void => this.note(entry, text),
  };

  /** @param onProgress told each time that something was said */
  constructor(
    private readonly redact: Redaction,
    private readonly onProgress: () => void,
  ) {}

  /** Forgets the previous message. */
  beginMessage(): void {
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

  /** Whether both sides agree that nothing is under way, so that another message may follow. */
  get isAtRest(): boolean {
    return this.awaited.length === 0 && this.messageBegun === this.messageWritten;
  }

  /** What is waited for; undefined: nothing. */
  get wait(): Wait | undefined {
    const [awaited] = this.awaited;
    if (awaited !== undefined) return awaited === 'greeting' || awaited === 'content' ? awaited : 'command';
    // After a STARTTLS that was refused it goes on in clear.
    const isHandshake = this.stage === 'starttls' && this.fault === undefined;
    return this.stage === 'connect' || isHandshake ? 'connection' : undefined;
  }

  /** What became of the message, or of the attempt to connect, that ended with this error (or with none). */
  outcome(error: Error | undefined): Transmission {
    if (this.fault !== undefined) return this.fault;
    const text = boundText(
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

  /** The last byte of the message, its final dot's line, has been handed to the socket. */
  messageIsWritten(): void {
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
    // The lines of an AUTH exchange are base64, in which a command's name can occur.
    const stage =
      this.stage === 'auth' ? 'auth' : STAGE_OF_COMMAND.find(([pattern]) => pattern.test(command))?.[1];
    if (stage === undefined) return;
    // A server that refuses EHLO is asked by HELO; only the answer to that counts.
    if (stage === 'ehlo') this.fault = undefined;
    this.expect(stage);
  }

  private replyCame(raw: string): void {
    const stage = this.awaited.shift();
    if (stage === undefined) return;
    this.stage = this.awaited[0] ?? stage;
    if (stage === 'ehlo') this.offersSmtpUtf8 = /^250[ -]SMTPUTF8\b/im.test(raw);
    const reply = readReply(raw, this.redact);
    if (reply === undefined || !GOES_ON[stage](reply.code)) this.fault ??= this.faultOf(stage, reply, raw);
    else if (stage === 'data') this.contentBegins();
    else if (stage === 'content') this.finalReply = reply;
  }

  private contentBegins(): void {
    this.messageBegun = true;
    this.expect('content');
  }

  private faultOf(stage: SmtpStage, reply: SmtpReply | undefined, raw: string): Transmission {
    if (reply !== undefined && reply.code >= 400) return { kind: 'refused', stage, reply };
    const error = boundText(`a reply that makes no sense at ${stage}: ${this.redact(raw)}`);
    // The server may have taken the message all the same.
    return stage === 'content' && this.messageWritten
      ? { kind: 'unknown', error }
      : { kind: 'broken', stage, error };
  }
}
