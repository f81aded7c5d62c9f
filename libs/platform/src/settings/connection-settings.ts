import { withoutTrailing } from '@posthorn/kernel';
import { IsIn, IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { Setting } from './setting.ts';
import { IsUrlWithScheme } from './url-with-scheme.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Where a process is reached over HTTP. */
export class HttpSettings {
  @Setting('The address that the process listens on.')
  @Matches(/^[0-9a-zA-Z.:-]+$/)
  HTTP_HOST = '0.0.0.0';

  @Setting(
    'The port that the process listens on: the interface of the gateway, the health checks of every app.',
  )
  @IsInt()
  @Min(0)
  @Max(65_535)
  HTTP_PORT = 3_000;

  @Setting('The port on which Prometheus finds `/metrics`; 0: none is served. Let no stranger reach it.')
  @IsInt()
  @Min(0)
  @Max(65_535)
  METRICS_PORT = 0;

  @Setting(
    'The address of the gateway as callers and recipients see it; links in emails and errors begin with it.',
    {
      defaultText: 'http://localhost:<HTTP_PORT>',
      example: 'http://localhost:3000',
    },
  )
  @IsOptional()
  @IsUrlWithScheme('https', 'http')
  PUBLIC_URL?: string;

  /** The address of the gateway, without a slash at its end. */
  get publicUrl(): string {
    return withoutTrailing(this.PUBLIC_URL ?? `http://localhost:${this.HTTP_PORT}`, '/');
  }
}

/** How the truth is reached. */
export class DatabaseSettings {
  @Setting('The Postgres database that holds everything (15 or newer).', {
    secret: true,
    example: 'postgresql://posthorn:posthorn@localhost:5432/posthorn',
  })
  @IsUrlWithScheme('postgresql', 'postgres')
  DATABASE_URL!: string;

  @Setting('How many connections to Postgres this process keeps at most.')
  @IsInt()
  @Min(2)
  @Max(500)
  DATABASE_POOL_SIZE = 10;

  /** As the database room takes them. */
  get options(): { url: string; poolSize: number } {
    return { url: this.DATABASE_URL, poolSize: this.DATABASE_POOL_SIZE };
  }
}

/** How the doorbells are reached. */
export class RedisSettings {
  @Setting('The Redis that carries the rings; nothing is lost with it.', {
    secret: true,
    example: 'redis://localhost:6379',
  })
  @IsUrlWithScheme('redis', 'rediss')
  REDIS_URL!: string;

  @Setting('What the keys in Redis begin with, so that several installations can have one Redis.')
  @Matches(/^[A-Za-z0-9_-]{1,64}$/)
  QUEUE_PREFIX = 'posthorn';

  /** As the queues' room takes them. */
  get options(): { url: string; prefix: string } {
    return { url: this.REDIS_URL, prefix: this.QUEUE_PREFIX };
  }
}

/** What is logged. */
export class LogSettings {
  @Setting('The least level that is logged.')
  @IsIn(LOG_LEVELS)
  LOG_LEVEL: LogLevel = 'info';
}
