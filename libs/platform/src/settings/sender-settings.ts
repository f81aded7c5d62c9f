import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { isDomainName } from './domain-name.ts';
import { IsOfForm } from './is-of-form.ts';
import { Setting } from './setting.ts';
import { AreUrlsWithScheme } from './url-with-scheme.ts';

const TLS_POLICIES = ['opportunistic', 'required', 'verified'] as const;

/** How emails leave. */
export class SenderSettings {
  @Setting(
    'The relay that takes the emails, or several in order of preference, separated by spaces; smtps:// speaks TLS from the first byte, smtp:// uses STARTTLS where offered.',
    {
      secret: true,
      example: 'smtp://localhost:1025',
    },
  )
  @AreUrlsWithScheme('smtp', 'smtps')
  SMTP_URL!: string;

  @Setting(
    'As what the sender greets relays (EHLO): a full domain name, best one that leads to its address. Unset: the name of its host if that is a full one, else `[127.0.0.1]`, which some relays refuse, `421 … (EHLO)`.',
    { example: 'posthorn.example.com' },
  )
  @IsOptional()
  @IsOfForm(
    'one domain in lower case, such as `posthorn.example.com`; an internationalised one as punycode',
    isDomainName,
  )
  SMTP_EHLO_NAME?: string;

  @Setting(
    'How many connections to each relay this process keeps at most, and how many emails it transmits at once.',
  )
  @IsInt()
  @Min(1)
  @Max(1_000)
  SMTP_CONNECTIONS = 20;

  @Setting(
    'How long connecting to the relay may take, and as long again the TLS handshake after STARTTLS, in milliseconds.',
  )
  @IsInt()
  @Min(100)
  @Max(120_000)
  SMTP_CONNECTION_TIMEOUT_MS = 10_000;

  @Setting('How long the relay may take to greet before we hang up, in milliseconds.')
  @IsInt()
  @Min(1_000)
  @Max(300_000)
  SMTP_GREETING_TIMEOUT_MS = 30_000;

  @Setting(
    'How long the relay may take to answer a command, in milliseconds; its answer to a whole message is waited for as SMTP_SOCKET_TIMEOUT_MS says.',
  )
  @IsInt()
  @Min(1_000)
  @Max(900_000)
  SMTP_COMMAND_TIMEOUT_MS = 300_000;

  @Setting(
    'How long the relay may be silent before we hang up, in milliseconds. Hanging up after the whole message was written means sending it twice; RFC 5321 gives the relay ten minutes for its last answer.',
  )
  @IsInt()
  @Min(1_000)
  @Max(900_000)
  SMTP_SOCKET_TIMEOUT_MS = 600_000;

  @Setting('After how many emails a connection to the relay is closed and opened anew.')
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  SMTP_MESSAGES_PER_CONNECTION = 100;

  @Setting('How many emails this process sends in a second at most, one after the other; 0 means any number.')
  @IsInt()
  @Min(0)
  @Max(100_000)
  SMTP_MESSAGES_PER_SECOND = 0;

  @Setting(
    'What is asked of TLS: opportunistic uses it where it is offered, required sends nothing without it, verified sends only to a relay with a certificate of a trusted authority for its name. To a relay with user and password the certificate is always judged.',
  )
  @IsIn(TLS_POLICIES)
  SMTP_TLS: (typeof TLS_POLICIES)[number] = 'opportunistic';
}
