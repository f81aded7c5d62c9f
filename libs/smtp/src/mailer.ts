import SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Dialogue } from './dialogue.ts';
import type { AddressSearch } from './relay-addresses.ts';
import { writeMessage } from './write-message.ts';

type MessageDone = (error: Error | null, reply?: string) => void;

/** What the mailer does not tell of itself. */
interface Internals {
  _connectToHost(options: unknown, secure: boolean): void;
  _sendCommand(command: string, logged?: string): void;
  _actionSMTPStream(reply: string, done: MessageDone): void;
  _onError(error: Error, code: string, reply: false, command: string): void;
  _parseEhloExtensions(reply: string): void;
  _actionHELO(reply: string): void;
  /** What EHLO was answered with, but for the first line, in which the relay names itself. */
  readonly _ehloLines: readonly string[];
  _maxAllowedSize: number;
  readonly _responseActions: ((reply: string) => void)[];
}

const INTERNALS = SMTPConnection.prototype as unknown as Internals;

/** The logins that the mailer can do with a user and a password. */
const LOGINS = ['PLAIN', 'LOGIN', 'CRAM-MD5'];
/** RFC 4954, section 3, and the form before it, with `=`. */
const AUTH_OFFER = /^AUTH(?![^\s=])(.*)$/i;
/** RFC 1870, section 4. */
const SIZE_OFFER = /^SIZE (\d{1,20})$/i;

const LACKS_SMTPUTF8 = /^MAIL FROM:(?!.*> (.* )?SMTPUTF8( |$))/;

/** nodemailer's connection, whose insides only this file knows, with some of its steps done otherwise; the tests of this library say whether they fit another version of it. */
export class Mailer extends SMTPConnection {
  /** Whether the next message needs SMTPUTF8. The mailer looks at the envelope alone; an address in a header needs it as well (RFC 6531, section 3.4). */
  messageIsUtf8 = false;
  /** Asked when the relay waits for the next message: the last moment at which it can be kept back. */
  mayWrite: () => boolean = () => true;
  /** Whether the next message was kept back. */
  hasKeptBack = false;
  /** The address that it has reached, before anything was said there. */
  reached: string | undefined;
  private readonly own = this as unknown as Internals;

  constructor(
    options: SMTPConnection.Options,
    private readonly addresses: Pick<AddressSearch, 'find' | 'passedBy'>,
    private readonly dialogue: Pick<Dialogue, 'hasFailed' | 'messageIsWritten'>,
  ) {
    super(options);
  }

  /** Finds where to connect to. The mailer goes by what it has heard for five minutes, though another server may have taken over. */
  _resolveAndConnect(
    _options: unknown,
    connect: (resolved: { _addresses: readonly string[] }) => void,
  ): void {
    this.addresses.find().then(
      (_addresses) => connect({ _addresses }),
      (error: Error) => this.own._onError(error, 'EDNS', false, 'CONN'),
    );
  }

  /** Connects, and notes where to, and where in vain: of several addresses the first that takes the connection counts (RFC 8305). */
  _connectToHost(options: unknown, secure: boolean): void {
    INTERNALS._connectToHost.call(this, options, secure);
    const socket = this._socket;
    if (!socket) return;
    const passedBy: string[] = [];
    const passBy = (address: string): number => passedBy.push(address);
    socket.on('connectionAttemptFailed', passBy);
    socket.on('connectionAttemptTimeout', passBy);
    socket.once('connect', () => {
      this.reached = socket.remoteAddress;
      this.addresses.passedBy(passedBy);
    });
  }

  /**
   * Waits are ended by who holds the connection. The mailer's timers take a standstill of this process for silence of the relay, go wrong when the clock
   * of the machine is set, and count the wait for the greeting as a part of connecting.
   */
  _startPhase(): void {
    return undefined;
  }

  /** See `_startPhase`. */
  _onTimeout(): void {
    return undefined;
  }

  /**
   * Reads what the relay offers. The mailer looks for `AUTH` in the relay's name as well (`250-smtp-auth.example.org`), and takes `SIZE 10M` for ten bytes:
   * such a relay was asked for a login that it does not have, or was said to refuse whatever is not empty.
   */
  _parseEhloExtensions(reply: string): void {
    INTERNALS._parseEhloExtensions.call(this, reply);
    const offers = this.own._ehloLines;
    this.allowsAuth = offers.some((offer) => AUTH_OFFER.test(offer));
    this.own._maxAllowedSize = Number(offers.map((offer) => SIZE_OFFER.exec(offer)?.[1]).find(Boolean) ?? 0);
  }

  /** Goes on with a relay that knows no EHLO. It has offered no login (RFC 4954, section 4), though the mailer would try one. */
  _actionHELO(reply: string): void {
    INTERNALS._actionHELO.call(this, reply);
    this.allowsAuth = false;
  }

  /** How many bytes the relay takes at most, as it says; 0: it does not say. */
  get largest(): number {
    return this.own._maxAllowedSize;
  }

  /** The logins that the relay offers, if none of them is one of ours. The mailer would send it the password by `AUTH PLAIN` then. */
  get foreignLogins(): string | undefined {
    const offered = this.own._ehloLines
      .flatMap((offer) => AUTH_OFFER.exec(offer)?.[1]?.toUpperCase().split(/[\s=]/) ?? [])
      .filter((login) => login !== '');
    const isForeign = offered.length > 0 && !offered.some((login) => LOGINS.includes(login));
    return isForeign ? offered.join(' ') : undefined;
  }

  /** Says what the mailer would say, and asks for SMTPUTF8 where it does not. */
  _sendCommand(command: string, logged?: string): void {
    const said = this.messageIsUtf8 && LACKS_SMTPUTF8.test(command) ? `${command} SMTPUTF8` : command;
    INTERNALS._sendCommand.call(this, said, logged);
  }

  /**
   * Takes a message whose lines end in CRLF, which is known of ours. The mailer makes a `Transform` for each, which looks at every byte in turn, writes the end for
   * itself, and, as all that Node can write to, stays in memory until the whole heap is collected (docs/decisions/0049).
   */
  _createSendStream(done: MessageDone): { outByteCount: number; write(message: Buffer): void; end(): void } {
    this.own._responseActions.push((reply) => this.own._actionSMTPStream(reply, done));
    return {
      outByteCount: 0,
      write: (message) => {
        // The mailer takes `25` and `2500` for success: what is to be said to have failed must not be sent.
        this.hasKeptBack = this.dialogue.hasFailed || !this.mayWrite();
        if (this.hasKeptBack)
          this.own._onError(new Error('the message was kept back'), 'EPROTOCOL', false, 'DATA');
        // A connection that is gone has said so itself, and what was not written is known not to have been.
        else if (this._socket) writeMessage(this._socket, message, () => this.dialogue.messageIsWritten());
      },
      end: () => undefined,
    };
  }
}
