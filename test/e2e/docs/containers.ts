import { expect } from '@jest/globals';
import { parse } from 'yaml';
import { callsOf, runLocally } from './program-calls.ts';
import type { Checkout } from './checkout.ts';
import { type Fence, textOf } from './fences.ts';

/** Checks a block's calls of Docker Compose against the services of our file; the command of `run` is run locally. */
export async function checkComposeCalls(fence: Fence, checkout: Checkout): Promise<void> {
  const { services } = parse(textOf('docker-compose.yml'), { merge: true }) as {
    services: Record<string, { entrypoint?: string[] }>;
  };
  const calls = await callsOf(fence, ['docker'], checkout);
  expect(calls).not.toEqual([]);
  for (const [, compose, ...words] of calls) {
    expect(compose).toBe('compose');
    const [verb, ...rest] = words;
    if (verb === 'up') expect(rest.filter((word) => word !== '--build')).toEqual([]);
    else if (verb === 'run') {
      const [remove, service, ...command] = rest;
      expect([remove, Object.keys(services)]).toEqual(['--rm', expect.arrayContaining([service])]);
      await runLocally([...(services[service!]!.entrypoint ?? []), ...command], checkout);
    } else throw new Error(`docker compose ${verb} is not known to this test`);
  }
}
