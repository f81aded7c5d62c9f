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
  readonly _responseActions: ((reply: string) => void)[];
}

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
    (SMTPConnection.prototype as unknown as Internals)._connectToHost.call(this, options, secure);
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

  /** Says what the mailer would say, and asks for SMTPUTF8 where it does not. */
  _sendCommand(command: string, logged?: string): void {
    const said = this.messageIsUtf8 && LACKS_SMTPUTF8.test(command) ? `${command} SMTPUTF8` : command;
    (SMTPConnection.prototype as unknown as Internals)._sendCommand.call(this, said, logged);
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
