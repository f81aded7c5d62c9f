import { isLoopback } from '@posthorn/domain';
import { IsIn, IsOptional, Matches } from 'class-validator';
import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';
import { baseUrl, IsPostgresUrl, IsRedisUrl, IsWebAddress } from './url-with-scheme.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The HTTP interface of a process. */
export class HttpSettings {
  @Setting('The address that the process listens on.')
  @Matches(/^[0-9a-zA-Z.:-]+$/)
  HTTP_HOST = '0.0.0.0';

  @Setting(
    "The port that the process listens on: for the gateway's API, and for the health checks of every app.",
  )
  @IsWholeNumber(0, 65_535)
  HTTP_PORT = 3_000;

  @Setting(
    'How long a connection is kept open after an answer. A proxy in front must close idle connections sooner, or it may send a request over one that is being closed, and answer 502.',
  )
  @IsWholeNumber(1_000, 3_700_000)
  // nginx and Amazon's load balancers wait 60 s by default, Traefik 90 s, Caddy 120 s.
  HTTP_KEEP_ALIVE_TIMEOUT_MS = 130_000;

  @Setting('The port that serves `/metrics` to Prometheus; 0 means none. Do not expose it to strangers.')
  @IsWholeNumber(0, 65_535)
  METRICS_PORT = 0;

  @Setting(
    'The address of the gateway as callers and recipients see it; links in emails and errors begin with it. `gateway`, `sender` and `dashboard` must have the same value, or previews differ from what is sent.',
    {
      defaultText: 'http://localhost:<HTTP_PORT>',
      example: 'http://localhost:3000',
    },
  )
  @IsOptional()
  @IsWebAddress()
  PUBLIC_URL?: string;

  /** The base URL of the gateway, without a trailing slash. */
  get publicUrl(): string {
    return baseUrl(this.PUBLIC_URL ?? `http://localhost:${this.HTTP_PORT}`);
  }

  /** Whether only this machine reaches the gateway at its public address. */
  get isPublicUrlLocal(): boolean {
    return isLoopback(new URL(this.publicUrl).hostname);
  }
}

/** The connection to Postgres. */
export class DatabaseSettings {
  @Setting(
    'The Postgres database that holds everything (15 or newer). Append `?sslmode=verify-full` to require TLS (`require`, `verify-ca` and `prefer` mean the same here: the certificate and its name are verified); `&sslrootcert=` names a file with your own certificate authority. It must contain no timeouts, which Posthorn sets itself, and no `schema`.',
    {
      secret: true,
      example: 'postgresql://posthorn:posthorn@localhost:5432/posthorn',
    },
  )
  @IsPostgresUrl()
  DATABASE_URL!: string;

  @Setting('The maximum number of connections from this process to Postgres.')
  @IsWholeNumber(2, 500)
  DATABASE_POOL_SIZE = 10;

  /** The options of `@posthorn/database`. */
  get options(): { url: string; poolSize: number } {
    return { url: this.DATABASE_URL, poolSize: this.DATABASE_POOL_SIZE };
  }
}

/** The connection to Redis. */
export class RedisSettings {
  @Setting('The Redis server for queues and rate limits; if it loses its data, no email or event is lost.', {
    secret: true,
    example: 'redis://localhost:6379',
  })
  @IsRedisUrl()
  REDIS_URL!: string;

  @Setting('The prefix of all keys in Redis, so that several installations can share one server.')
  @Matches(/^[A-Za-z0-9_-]{1,64}$/)
  QUEUE_PREFIX = 'posthorn';

  /** The options of `@posthorn/queues`. */
  get options(): { url: string; prefix: string } {
    return { url: this.REDIS_URL, prefix: this.QUEUE_PREFIX };
  }
}

/** Logging. */
export class LogSettings {
  @Setting('The lowest level that is logged.')
  @IsIn(LOG_LEVELS)
  LOG_LEVEL: LogLevel = 'info';
}
