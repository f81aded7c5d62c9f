import { afterEach, describe, expect, it } from '@jest/globals';
import { startSampleApp, type SampleApp } from '../http/sample-app.fixture.ts';
import { Health, type HealthChecks } from './health.ts';

describe('the health checks', () => {
  let sample: SampleApp;
  afterEach(() => sample.close());

  async function start(health: HealthChecks): Promise<(path: string) => Promise<[number, unknown]>> {
    sample = await startSampleApp({ health });
    return async (path) => {
      const response = await fetch(`${sample.url}/health/${path}`);
      return [response.status, await response.json()];
    };
  }

  it('report a process as live if its event loop runs and its own probes succeed', async () => {
    const ask = await start({ liveness: { turns: () => ({ ok: true, detail: 3 }) } });
    expect(await ask('live')).toEqual([
      200,
      {
        status: 'live',
        checks: { eventLoop: { ok: true, detail: expect.any(String) }, turns: { ok: true, detail: 3 } },
      },
    ]);
  });

  it.each([
    ['fails', () => ({ ok: false, detail: 'no progress for 90 s' }), 'no progress for 90 s'],
    [
      'throws',
      () => {
        throw new Error('hunter2');
      },
      'the check itself failed',
    ],
  ])(
    'G2: answer 503 with the error body, which says what is stuck, when a probe %s',
    async (_how, check, detail) => {
      const ask = await start({ liveness: { turns: check } });
      expect(await ask('live')).toEqual([
        503,
        {
          statusCode: 503,
          error: 'Service Unavailable',
          message: `This process is stuck (turns: ${detail}); restart it`,
        },
      ]);
    },
  );

  it('log the error that a probe throws, since the process is about to be restarted', async () => {
    const fault = new Error('the probe is broken');
    const ask = await start({
      liveness: {
        turns: () => {
          throw fault;
        },
      },
    });
    await ask('live');
    expect(sample.lines).toContainEqual(
      expect.objectContaining({ level: 'error', err: expect.objectContaining({ message: fault.message }) }),
    );
  });

  it('show that a dependency is unavailable, and stay ready', async () => {
    const ask = await start({
      dependencies: {
        database: () => Promise.resolve(),
        redis: () => Promise.reject(new Error('redis://u:hunter2@cache')),
      },
    });
    const [status, body] = await ask('ready');
    expect([status, body]).toMatchObject([
      200,
      { status: 'ready', checks: { database: { ok: true }, redis: { ok: false } } },
    ]);
    expect(JSON.stringify([body, sample.lines])).not.toContain('hunter2');
  });

  it('G2: report a draining process as not ready (503), but as live', async () => {
    const ask = await start({});
    sample.app.get(Health).drain();
    expect(await ask('ready')).toEqual([
      503,
      {
        statusCode: 503,
        error: 'Service Unavailable',
        message: 'This process is draining; send requests to another one',
      },
    ]);
    expect(await ask('live')).toMatchObject([200, {}]);
  });

  it('answer HEAD', async () => {
    await start({});
    const response = await fetch(`${sample.url}/health/ready`, { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
});
