import { IsBoolean, IsInt, Max, Min } from 'class-validator';
import { Setting } from './setting.ts';
import { IsUrlWithScheme } from './url-with-scheme.ts';

/** How emails leave. */
export class SenderSettings {
  @Setting(
    'The relay that takes the emails; smtps:// speaks TLS from the first byte, smtp:// uses STARTTLS where offered.',
    {
      secret: true,
      example: 'smtp://localhost:1025',
    },
  )
  @IsUrlWithScheme('smtp', 'smtps')
  SMTP_URL!: string;

  @Setting('How many connections to the relay this process keeps at most.')
  @IsInt()
  @Min(1)
  @Max(1_000)
  SMTP_CONNECTIONS = 20;

  @Setting('How long connecting to the relay may take, in milliseconds.')
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

  @Setting(
    'Whether an email waits rather than leave over a connection without TLS; set it wherever the relay is not local.',
  )
  @IsBoolean()
  SMTP_REQUIRE_TLS = false;
}
