import { IsIn, IsOptional } from 'class-validator';
import { isLoopback } from '@posthorn/domain';
import { isDomainName } from './domain-name.ts';
import { HasForm } from './has-form.ts';
import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';
import { AreUrlsWithScheme, urlsIn } from './url-with-scheme.ts';

const TLS_POLICIES = ['opportunistic', 'required', 'verified'] as const;

/** How emails are sent. */
export class SenderSettings {
  @Setting(
    'The relay that emails are sent through, or several in order of preference, separated by spaces; smtps:// uses TLS from the first byte, smtp:// uses STARTTLS where it is offered.',
    {
      secret: true,
      example: 'smtp://localhost:1025',
    },
  )
  @AreUrlsWithScheme('smtp', 'smtps')
  SMTP_URL!: string;

  @Setting(
    'The name with which the sender greets relays (EHLO): a fully qualified domain name, preferably one that resolves to its address. Unset: its host name if that is fully qualified, otherwise `[127.0.0.1]`, which some relays refuse, `421 … (EHLO)`.',
    { example: 'posthorn.example.com' },
  )
  @IsOptional()
  @HasForm(
    'one domain in lower case, such as `posthorn.example.com`; an internationalised one as punycode',
    isDomainName,
  )
  SMTP_EHLO_NAME?: string;

  @Setting(
    'The maximum number of connections from this process to each relay, and of emails that it transmits at once. A backlog of one workspace leaves a tenth of them to the others.',
  )
  @IsWholeNumber(1, 1_000)
  SMTP_CONNECTIONS = 20;

  @Setting(
    'How long connecting to the relay may take, in milliseconds; the TLS handshake after STARTTLS may take as long again.',
  )
  @IsWholeNumber(100, 120_000)
  SMTP_CONNECTION_TIMEOUT_MS = 10_000;

  @Setting(
    'How long to wait for the greeting of the relay, in milliseconds; on an idle connection that is used again, for the answer to its first command, after which another connection is opened.',
  )
  @IsWholeNumber(1_000, 300_000)
  SMTP_GREETING_TIMEOUT_MS = 30_000;

  @Setting(
    'How long the relay may take to answer a command, in milliseconds; SMTP_SOCKET_TIMEOUT_MS applies to its answer to a whole message.',
  )
  @IsWholeNumber(1_000, 900_000)
  SMTP_COMMAND_TIMEOUT_MS = 300_000;

  @Setting(
    'How long the relay may be inactive before the connection is closed, in milliseconds. If it is closed after the whole message was written, the email may be sent twice; RFC 5321 gives the relay ten minutes for its last answer.',
  )
  @IsWholeNumber(1_000, 900_000)
  SMTP_SOCKET_TIMEOUT_MS = 600_000;

  @Setting('After how many emails a connection to the relay is closed and reopened.')
  @IsWholeNumber(1, 1_000_000)
  SMTP_MESSAGES_PER_CONNECTION = 100;

  @Setting(
    'The maximum number of emails a second that this process sends, evenly spaced; 0 means no limit. While a relay says that emails arrive too fast, fewer are sent.',
  )
  @IsWholeNumber(0, 100_000)
  SMTP_MESSAGES_PER_SECOND = 0;

  @Setting(
    'How TLS is used: opportunistic uses it where it is offered, required sends nothing without it, verified sends only to a relay whose certificate is from a trusted authority and for its name. For a relay with user and password the certificate is always verified.',
  )
  @IsIn(TLS_POLICIES)
  SMTP_TLS: (typeof TLS_POLICIES)[number] = 'opportunistic';

  /** The URLs of `SMTP_URL`, in order of preference. */
  get relayUrls(): string[] {
    return urlsIn(this.SMTP_URL);
  }

  /** Whether a relay is on another machine, so that emails leave this one. */
  get isRelayElsewhere(): boolean {
    return this.relayUrls.some((url) => !isLoopback(new URL(url).hostname));
  }
}
