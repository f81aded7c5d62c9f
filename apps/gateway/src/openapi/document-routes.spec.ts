import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { IdentifyCaller, RateLimits } from '@posthorn/auth';
import type { Database } from '@posthorn/database';
import { DatabaseClock } from '@posthorn/kernel';
import { createHttpApp, createLogger, HttpSettings } from '@posthorn/platform';
import { FollowLink, NoticeHits, TrackingLinks } from '@posthorn/use-cases';
import type { Express } from 'express';
import { GatewayModule, type GatewayParts } from '../gateway.module.ts';
import { ApiDocument } from './api-document.ts';
import type { OpenApiDocument } from './document-types.ts';

/** Stands for whatever the gateway is made of: here only its routes are looked at, and nothing is asked of them. */
const anything: unknown = new Proxy(class {}, {
  get: (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : anything),
  apply: () => anything,
});

/** These properties; any other is {@link anything}. */
function withAnything<Whole extends object>(given: Partial<Whole>): Whole {
  return new Proxy(given as Whole, { get: (known, name) => Reflect.get(known, name) ?? anything });
}

/** An object of a class, not constructed. */
function instanceOf<Instance extends object>({ prototype }: { prototype: Instance }): Instance {
  return Object.create(prototype) as Instance;
}

describe('the gateway', () => {
  let app: INestApplication;
  beforeAll(async () => {
    const parts = withAnything<GatewayParts>({
      publicUrl: 'https://mail.example.com',
      database: withAnything<Database>({ clock: new DatabaseClock() }),
      callers: instanceOf(IdentifyCaller),
      limits: instanceOf(RateLimits),
      trackingLinks: instanceOf(TrackingLinks),
      followLink: instanceOf(FollowLink),
      hits: instanceOf(NoticeHits),
    });
    const logger = createLogger({ LOG_LEVEL: 'silent' }, 'gateway', { write: () => {} });
    const options = { logger, settings: new HttpSettings(), bodies: { maxBytes: 1024 } };
    app = await createHttpApp(GatewayModule.of(parts), options);
    await app.init();
  });
  afterAll(() => app.close());

  function routed(): string[] {
    const { stack } = (app.getHttpAdapter().getInstance() as Express).router;
    return stack
      .flatMap(({ route }) => (route === undefined ? [] : [route]))
      .flatMap(({ path, stack: handlers }) =>
        handlers.map(({ method }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
      );
  }

  it('has exactly the routes of the document', () => {
    const { paths } = JSON.parse(app.get(ApiDocument).bytes.toString()) as OpenApiDocument;
    const documented = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method} ${path}`),
    );
    expect(documented).toContain('post /v1/emails');
    expect([...new Set(routed())].sort()).toEqual(documented.sort());
  });
});
