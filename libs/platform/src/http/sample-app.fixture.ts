import {
  Body,
  Controller,
  ForbiddenException,
  Get,
  Header,
  HttpCode,
  type INestApplication,
  Module,
  Param,
  Post,
  Req,
  ServiceUnavailableException,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import { Refusal, sleep } from '@posthorn/kernel';
import type { Request } from 'express';
import { createLogger } from '../logging/create-logger.ts';
import { HttpSettings } from '../settings/connection-settings.ts';
import { createHttpApp, type HttpAppOptions } from './create-http-app.ts';
import { DisconnectSignal } from './connections/disconnect-signal.ts';
import { JsonText } from './answers/json-text.ts';

const SECRET_FAULT =
  'duplicate key: Key (email)=(jane@example.com), key phk_abc123, postgres://u:hunter2@db.internal:5432/x';

/** Functions that let the pending requests to `/v1/held` and `/v1/held-and-refused` be answered, the oldest first. */
export const heldRequests: (() => void)[] = [];

/** Resolves when so many of these requests are pending. */
export async function untilHeld(count: number): Promise<void> {
  while (heldRequests.length < count) await sleep(5);
}

/** The default limit of bodies, in bytes. */
export const LARGEST_BODY = 10 * 1024 * 1024;

export const MORE_THAN_A_CONNECTION_HOLDS = 32 * 1024 * 1024;

interface ThingRequest {
  readonly name: string;
  readonly html?: string;
}

class RefusingGuard implements CanActivate {
  canActivate(): boolean {
    throw new Refusal(401, 'The header `Authorization` is missing', { challenge: 'Bearer' });
  }
}

@Controller('v1/things')
class ThingsController {
  @Post()
  @HttpCode(200)
  create(@Body() request: ThingRequest): unknown {
    return { name: request.name, size: request.html?.length ?? 0 };
  }

  @Post('big')
  @HttpCode(200)
  createBig(@Body() request: ThingRequest): unknown {
    return { size: request.html?.length };
  }

  @Post('guarded')
  @UseGuards(RefusingGuard)
  guarded(@Body() request: ThingRequest): unknown {
    return request;
  }

  @Get(':id')
  read(@Param('id') id: string): unknown {
    return { id };
  }

  @Post(':id/cancel')
  @HttpCode(200)
  cancel(@Param('id') id: string): unknown {
    return { id, isCancelled: true };
  }
}

@Controller('v1')
class AnswersController {
  @Get('fails')
  fails(): never {
    throw Object.assign(new Error(SECRET_FAULT), { statusCode: 418, detail: 'hunter2' });
  }

  @Post('fails')
  failsWithBody(@Body() _request: object): never {
    return this.fails();
  }

  @Get('fails-in-nest')
  failsInNest(): never {
    throw new ServiceUnavailableException(SECRET_FAULT);
  }

  @Get('forbidden')
  forbidden(): never {
    throw new ForbiddenException('Forbidden resource');
  }

  @Get('refuses')
  refuses(): never {
    const allowed = { allowedEmails: ['a@example.com'], allowedDomains: ['example.com'] };
    throw new Refusal(400, '`from` is not verified', { ...allowed, docsPage: 'unverified-sender' });
  }

  @Get('signed-out')
  signedOut(): never {
    throw new Refusal(401, 'Sign in first');
  }

  @Get('limited')
  limited(): never {
    throw new Refusal(429, 'Too fast', { retryAfterSeconds: 2.2 });
  }

  @Get('away')
  away(): never {
    throw new Refusal(503, 'The database does not answer');
  }

  @Get('slow')
  async slow(): Promise<unknown> {
    await sleep(300);
    return { slow: true };
  }

  @Get('held')
  async held(): Promise<unknown> {
    await new Promise<void>((resolve) => heldRequests.push(resolve));
    return { held: true };
  }

  @Get('held-and-refused')
  async heldAndRefused(): Promise<never> {
    await new Promise<void>((resolve) => heldRequests.push(resolve));
    throw new Refusal(409, 'It was sent meanwhile');
  }

  /** With its signal, and how many listen for the end of the connection. */
  @Get('held-until-gone')
  async heldUntilGone(@DisconnectSignal() gone: AbortSignal, @Req() { socket }: Request): Promise<unknown> {
    await new Promise<void>((resolve) => {
      heldRequests.push(resolve);
      gone.addEventListener('abort', () => resolve());
    });
    return { isGone: gone.aborted, listeners: socket.listenerCount('end') };
  }

  @Get('replayed')
  replayed(): JsonText {
    return new JsonText('{"b":1,  "a":2}');
  }

  @Get('page')
  @Header('Content-Type', 'text/html; charset=utf-8')
  page(): string {
    return '<p>ö</p>';
  }

  @Get('large')
  large(): Buffer {
    return Buffer.alloc(MORE_THAN_A_CONNECTION_HOLDS);
  }

  @Get('pixel')
  @Header('Content-Type', 'image/gif')
  pixel(): Buffer {
    return Buffer.from([1, 2, 255]);
  }
}

@Module({ controllers: [AnswersController, ThingsController] })
class SampleModule {}

export interface SampleApp {
  readonly app: INestApplication;
  readonly url: string;
  readonly port: number;
  /** The log lines written so far. */
  readonly lines: Record<string, unknown>[];
  close(): Promise<void>;
}

/** An app with one route for each kind of answer, listening on a free port. */
export async function startSampleApp(options: Partial<HttpAppOptions> = {}): Promise<SampleApp> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const logger = createLogger({ LOG_LEVEL: 'debug' }, 'sample', { write });
  const settings = Object.assign(new HttpSettings(), { PUBLIC_URL: 'https://mail.example.com' });
  const bodies = { maxBytes: LARGEST_BODY };
  const app = await createHttpApp(SampleModule, { logger, settings, bodies, ...options });
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return { app, url, port: Number(new URL(url).port), lines, close: () => app.close() };
}

/** Posts JSON text. */
export function postJson(
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } });
}
