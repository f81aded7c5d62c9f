import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Dialogue } from './dialogue.ts';
import type { AddressSearch } from './relay-addresses.ts';
import { writeMessage } from './write-message.ts';

type MessageDone = (error: Error | null, reply?: string) => void;

/** The internals of nodemailer's connection that are used here. */
interface Internals {
  _connectToHost(options: unknown, secure: boolean): void;
  _sendCommand(command: string, logged?: string): void;
  _actionSMTPStream(reply: string, done: MessageDone): void;
  _onError(error: Error, code: string, reply: false, command: string): void;
  _parseEhloExtensions(reply: string): void;
  _actionHELO(reply: string): void;
  /** The lines of the reply to EHLO, without the first one, which has the name of the relay. */
  readonly _ehloLines: readonly string[];
  _maxAllowedSize: number;
  readonly _responseActions: ((reply: string) => void)[];
  /** Replies that have arrived and were not processed yet. */
  readonly _responseQueue: readonly string[];
  /** The beginning of the next line. */
  readonly _remainder: string;
}

const INTERNALS = SMTPConnection.prototype as unknown as Internals;

/** RFC 4954, section 3, and the form before it, with `=`. */
const AUTH_OFFER = /^AUTH(?![^\s=])(.*)$/i;
/** RFC 1870, section 4. */
const SIZE_OFFER = /^SIZE (\d{1,20})$/i;

const LACKS_SMTPUTF8 = /^MAIL FROM:(?!.*> (.* )?SMTPUTF8( |$))/;

/** nodemailer's connection with some of its steps overridden. Only this file knows its internals; the tests of this library tell whether it fits a new version. */
export class Mailer extends SMTPConnection {
  /** Whether the next message needs SMTPUTF8. nodemailer checks only the envelope, but addresses in headers may need it too (RFC 6531, section 3.4). */
  messageIsUtf8 = false;
  /** Called when the relay is ready for the message content: the last moment at which it can be withheld. Returns whether to send it. */
  onEnvelope: () => boolean = () => true;
  /** Whether the current message was withheld. */
  wasWithheld = false;
  /** The address of the connection, as soon as it is established. */
  reached: string | undefined;
  private readonly own = this as unknown as Internals;

  constructor(
    options: SMTPConnection.Options,
    private readonly addresses: Pick<AddressSearch, 'find' | 'noteFailed'>,
    private readonly dialogue: Pick<
      Dialogue,
      'hasFailed' | 'onProgress' | 'noteEarlyReply' | 'noteMessageWritten'
    >,
  ) {
    super(options);
  }

  /** Resolves the addresses to connect to. nodemailer caches them for five minutes, although another server may have taken over. */
  _resolveAndConnect(
    _options: unknown,
    connect: (resolved: { _addresses: readonly string[] }) => void,
  ): void {
    this.addresses.find().then(
      (_addresses) => connect({ _addresses }),
      (error: Error) => this.own._onError(error, 'EDNS', false, 'CONN'),
    );
  }

  /** Connects, and records the address reached and those that failed: of several addresses, the first that accepts a connection is used (RFC 8305). */
  _connectToHost(options: unknown, secure: boolean): void {
    INTERNALS._connectToHost.call(this, options, secure);
    const socket = this._socket;
    if (!socket) return;
    const failed: string[] = [];
    const addFailed = (address: string): number => failed.push(address);
    socket.on('connectionAttemptFailed', addFailed);
    socket.on('connectionAttemptTimeout', addFailed);
    socket.once('connect', () => {
      this.reached = socket.remoteAddress;
      this.addresses.noteFailed(failed);
    });
  }

  /**
   * Disables nodemailer's timeouts; RelayConnection has its own. nodemailer's mistake a suspension of this process for silence of the relay, are disturbed by
   * changes of the wall clock, and count the wait for the greeting as part of connecting.
   */
  _startPhase(): void {
    return undefined;
  }

  /** See `_startPhase`. */
  _onTimeout(): void {
    return undefined;
  }

  /**
   * Parses the extensions that the relay offers. nodemailer also finds `AUTH` in the name of the relay (`250-smtp-auth.example.org`), and reads `SIZE 10M` as ten
   * bytes; with such relays, it tried to log in or rejected all messages.
   */
  _parseEhloExtensions(reply: string): void {
    INTERNALS._parseEhloExtensions.call(this, reply);
    const offers = this.own._ehloLines;
    this.allowsAuth = offers.some((offer) => AUTH_OFFER.test(offer));
    this.own._maxAllowedSize = Number(offers.map((offer) => SIZE_OFFER.exec(offer)?.[1]).find(Boolean) ?? 0);
  }

  /** Continues after HELO, with a relay that does not know EHLO and so has offered no login (RFC 4954, section 4); nodemailer would try one. */
  _actionHELO(reply: string): void {
    INTERNALS._actionHELO.call(this, reply);
    this.allowsAuth = false;
  }

  /** The maximum message size that the relay has announced, in bytes; 0: none. */
  get maxMessageBytes(): number {
    return this.own._maxAllowedSize;
  }

  /** The SASL mechanisms that the relay offers, if none of them is one of `usable`. nodemailer would send the login nevertheless. */
  mechanismsBeside(usable: readonly string[]): string | undefined {
    const offered = this.own._ehloLines
      .flatMap((offer) => AUTH_OFFER.exec(offer)?.[1]?.toUpperCase().split(/[\s=]/) ?? [])
      .filter((login) => login !== '');
    const isUnsupported = offered.length > 0 && !offered.some((login) => usable.includes(login));
    return isUnsupported ? offered.join(' ') : undefined;
  }

  /** Whether more has arrived than was answered so far; nodemailer ignores empty lines. */
  private get hasEarlyReply(): boolean {
    return [...this.own._responseQueue, this.own._remainder].some((line) => line.trim() !== '');
  }

  /** Sends a command, adding SMTPUTF8 where nodemailer does not. */
  _sendCommand(command: string, logged?: string): void {
    const said = this.messageIsUtf8 && LACKS_SMTPUTF8.test(command) ? `${command} SMTPUTF8` : command;
    INTERNALS._sendCommand.call(this, said, logged);
  }

  /**
   * Writes a message directly to the socket; its lines must end in CRLF. nodemailer creates a `Transform` for each message, which inspects every byte, writes the
   * end separately, and, like all Node streams, stays in memory until the next full garbage collection (docs/decisions/0049).
   */
  _createSendStream(done: MessageDone): { outByteCount: number; write(message: Buffer): void; end(): void } {
    this.own._responseActions.push((reply) => this.own._actionSMTPStream(reply, done));
    return {
      outByteCount: 0,
      write: (message) => {
        if (this.hasEarlyReply) this.dialogue.noteEarlyReply();
        // nodemailer takes replies such as `25` or `2500` for success; after a fault the message must not be sent.
        this.wasWithheld = this.dialogue.hasFailed || !this.onEnvelope();
        if (this.wasWithheld)
          this.own._onError(new Error('the message was kept back'), 'EPROTOCOL', false, 'DATA');
        // A closed connection has already reported that, and nothing has been written.
        else if (this._socket) {
          const { dialogue } = this;
          writeMessage(this._socket, message, dialogue.onProgress, () => dialogue.noteMessageWritten());
        }
      },
      end: () => undefined,
    };
  }
}
