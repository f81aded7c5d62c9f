import { describe, expect, it } from '@jest/globals';
import { providePostgres, provideRedis } from './services.mjs';

const PROVIDERS = { DATABASE_URL: providePostgres, REDIS_URL: provideRedis };

describe('A server of the settings', () => {
  it.each([
    ['DATABASE_URL', 'hunter2'],
    ['DATABASE_URL', 'postgresql://127.0.0.1:1/hunter2@db/posthorn'],
    ['DATABASE_URL', 'postgresql://127.0.0.1:1#hunter2@db/posthorn'],
    ['REDIS_URL', 'redis://127.0.0.1:1/hunter2@cache:6379'],
  ] as const)(
    'is not looked for at what its password has made of the URL, nor is that shown: %s=%s',
    async (setting, url) => {
      await expect(PROVIDERS[setting]({ DATABASE_URL: url, REDIS_URL: url }, 0)).rejects.toThrow(
        `${setting} is not a URL, or its user or password is not percent-encoded: write it as .env.example does.`,
      );
    },
  );
});
