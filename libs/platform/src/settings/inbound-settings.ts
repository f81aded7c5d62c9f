import { perSecond } from '@posthorn/domain';
import { IsOptional, Matches } from 'class-validator';
import type { CrossValidated } from './read-settings.ts';
import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** The part of a mail that is kept: enough, because a report comes before the message that it is about. */
const KEPT_BYTES = 96 * 1024;

/** How returned mail is received. */
export class InboundSettings implements CrossValidated {
  @Setting('The address that `inbound` receives mail on.')
  @Matches(/^[0-9a-zA-Z.:-]+$/)
  INBOUND_HOST = '0.0.0.0';

  @Setting(
    'The port that `inbound` receives mail on. Other servers connect to port 25: forward that port here, so that no process needs the privilege to open it.',
  )
  @IsWholeNumber(0, 65_535)
  INBOUND_PORT = 2_525;

  @Setting(
    'The certificate file for STARTTLS, with intermediate certificates, in PEM; it is read again every hour. Unset: TLS is not offered.',
    { example: '/etc/posthorn/tls.crt' },
  )
  @IsOptional()
  @Matches(/^\S+$/)
  INBOUND_TLS_CERTIFICATE?: string;

  @Setting('The key file of that certificate, in PEM.', { example: '/etc/posthorn/tls.key' })
  @IsOptional()
  @Matches(/^\S+$/)
  INBOUND_TLS_KEY?: string;

  @Setting('How many connections this process accepts at once.')
  @IsWholeNumber(1, 10_000)
  INBOUND_CONNECTIONS = 200;

  @Setting('How many of these connections one address may have.')
  @IsWholeNumber(1, 10_000)
  INBOUND_CONNECTIONS_PER_ADDRESS = 20;

  @Setting('How many mails a second one address may deliver to this process; 0 means no limit.')
  @IsWholeNumber(0, 100_000)
  INBOUND_MAILS_PER_SECOND = 100;

  @Setting(
    'The maximum size of a returned mail, in bytes. Only its beginning is kept in memory and read; the rest, usually the email itself, is received and discarded.',
  )
  @IsWholeNumber(KEPT_BYTES, 268_435_456)
  INBOUND_MAX_BYTES = 41_943_040;

  faults(): string[] {
    return (this.INBOUND_TLS_CERTIFICATE === undefined) === (this.INBOUND_TLS_KEY === undefined)
      ? []
      : ['INBOUND_TLS_CERTIFICATE and INBOUND_TLS_KEY go together; set both or neither'];
  }

  /** The options of `@posthorn/reports`. */
  get limits() {
    return {
      allConnections: this.INBOUND_CONNECTIONS,
      connections: this.INBOUND_CONNECTIONS_PER_ADDRESS,
      recipients: perSecond(this.INBOUND_MAILS_PER_SECOND, 10 * this.INBOUND_MAILS_PER_SECOND),
      messageBytes: this.INBOUND_MAX_BYTES,
      keptBytes: KEPT_BYTES,
      silenceMs: MINUTE_MS,
      sessionMs: 10 * MINUTE_MS,
    };
  }
}
