import { EventEmitter, once } from 'node:events';
import { Agent, get, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import { heldRequests, startSampleApp, type SampleApp, untilHeld } from '../http/sample-app.fixture.ts';
import { createLogger } from '../logging/create-logger.ts';
import { connectMeanwhile } from './connect-meanwhile.fixture.ts';
import { runUntilSignal, type ShutdownOptions } from './run-until-signal.ts';

const CONNECTIONS = 20;

class FakeProcess extends EventEmitter {
  readonly exitCodes: number[] = [];
  exit(code: number): void {
    this.exitCodes.push(code);
  }
  get heldListeners(): number {
    return this.eventNames().reduce((sum, name) => sum + this.listenerCount(name), 0);
  }
}

describe('runUntilSignal', () => {
  let sample: SampleApp;
  let fake: FakeProcess;
  let lines: string[];
  beforeEach(async () => {
    sample = await startSampleApp();
    fake = new FakeProcess();
    lines = [];
  });
  afterEach(() => sample.close());

  function run(options: Partial<ShutdownOptions> = {}): Promise<void> {
    const logger = createLogger({ LOG_LEVEL: 'info' }, 'test', { write: (line) => void lines.push(line) });
    return runUntilSignal(sample.app, { logger, process: fake, ...options });
  }

  it.each(['SIGTERM', 'SIGINT'])(
    'on %s finishes the drains in their order and leaves with 0',
    async (signal) => {
      const order: string[] = [];
      const drain = ['claims', 'outcomes'].map((name) => async () => {
        await sleep(name === 'claims' ? 30 : 1);
        order.push(name);
      });
      const done = run({ drain });
      fake.emit(signal, signal);
      await done;
      expect([order, fake.exitCodes, fake.heldListeners]).toEqual([['claims', 'outcomes'], [0], 0]);
      await expect(fetch(sample.url)).rejects.toThrow();
    },
  );

  it.each([
    ['held', 200],
    ['held-and-refused', 409],
  ])(
    'lets requests in progress finish, and closes their connections, before the first drain: /v1/%s',
    async (route, status) => {
      const logged: unknown[] = [];
      const note = (): void => void logged.push(...sample.lines.map((line) => line['route']));
      const done = run({ drain: [note] });
      const agent = new Agent({ keepAlive: true });
      const answered = new Promise<IncomingMessage>((resolve) =>
        get(`${sample.url}/v1/${route}`, { agent }, resolve),
      );
      await untilHeld(1);
      fake.emit('SIGTERM', 'SIGTERM');
      while ((sample.app.getHttpServer() as Server).listening) await sleep(5);
      heldRequests.pop()!();
      const answer = await answered;
      answer.resume();
      await done;
      expect([answer.statusCode, answer.headers.connection]).toEqual([status, 'close']);
      expect(logged).toContain(`/v1/${route}`);
      agent.destroy();
    },
  );

  it('answers the requests whose connections were not accepted yet when it stopped listening', async () => {
    const done = run({ lingerMs: 20 });
    fake.emit('SIGTERM', 'SIGTERM');
    await new Promise((resolve) => setImmediate(resolve));
    // The event loop stands still until after the delay, so that the next thing it does is to stop listening.
    const answers = connectMeanwhile(sample.port, 'GET /v1/slow HTTP/1.1\r\nHost: x\r\n\r\n', CONNECTIONS);
    const answered = /^HTTP\/1\.1 200 OK.*Connection: close.*"slow":true/s;
    expect((await answers).filter((answer) => !answered.test(answer))).toEqual([]);
    await done;
  });

  it('does not wait for connections that were opened in advance, and on which no request came', async () => {
    const accepted = once(sample.app.getHttpServer() as Server, 'connection');
    const unused = connect(sample.port, '127.0.0.1').resume();
    await accepted;
    const done = run({ requestGraceMs: 600_000 });
    fake.emit('SIGTERM', 'SIGTERM');
    await Promise.all([done, once(unused, 'end')]);
    expect(fake.exitCodes).toEqual([0]);
  });

  it('cuts off requests that take too long', async () => {
    const done = run({ requestGraceMs: 50 });
    const cut = expect(fetch(`${sample.url}/v1/held`)).rejects.toThrow();
    await untilHeld(1);
    fake.emit('SIGTERM', 'SIGTERM');
    await done;
    await cut;
    heldRequests.pop()!();
    expect(fake.exitCodes).toEqual([0]);
  });

  it('reports that it is not ready while it still accepts requests, if a delay is configured', async () => {
    const done = run({ lingerMs: 3_000 });
    fake.emit('SIGTERM', 'SIGTERM');
    const response = await fetch(`${sample.url}/health/ready`);
    expect([response.status, response.headers.get('connection')]).toEqual([503, 'close']);
    await done;
  });

  it('goes on with the other drains when one fails, and exits with 1', async () => {
    const order: string[] = [];
    const failing = (): Promise<void> => Promise.reject(new Error('postgres://u:hunter2@db is away'));
    const done = run({ drain: [failing, () => Promise.resolve(void order.push('second'))] });
    fake.emit('SIGTERM', 'SIGTERM');
    await done;
    expect([order, fake.exitCodes]).toEqual([['second'], [1]]);
    expect(lines.join()).toContain('a step of the shutdown failed');
    expect(lines.join()).not.toContain('hunter2');
  });

  it.each(['SIGTERM', 'SIGINT'])('still finishes when SIGTERM follows %s', async (signal) => {
    const begun = Promise.withResolvers<void>();
    const drained = Promise.withResolvers<void>();
    const drain = (): Promise<void> => {
      begun.resolve();
      return drained.promise;
    };
    const done = run({ drain: [drain] });
    fake.emit(signal, signal);
    await begun.promise;
    fake.emit('SIGTERM', 'SIGTERM');
    drained.resolve();
    await done;
    expect(fake.exitCodes).toEqual([0]);
  });

  it.each(['SIGTERM', 'SIGINT'])('exits at once with 1 when SIGINT follows %s', async (signal) => {
    const done = run({ drain: [() => new Promise<void>(() => undefined)] });
    fake.emit(signal, signal);
    fake.emit('SIGINT', 'SIGINT');
    await done;
    expect(fake.exitCodes).toEqual([1]);
    expect(lines.join()).toContain('SIGINT while shutting down');
  });

  it('exits with 1 when the deadline has passed', async () => {
    const done = run({ deadlineMs: 100, drain: [() => new Promise<void>(() => undefined)] });
    fake.emit('SIGTERM', 'SIGTERM');
    await done;
    expect(fake.exitCodes).toEqual([1]);
    expect(lines.join()).toContain('the deadline has passed');
  });

  it.each(['uncaughtException', 'unhandledRejection'])(
    'logs an %s as fatal and leaves with 1',
    async (event) => {
      const done = run();
      fake.emit(event, new Error('boom'));
      await done;
      expect([fake.exitCodes, fake.heldListeners]).toEqual([[1], 0]);
      expect(lines[0]).toMatch(/"level":"fatal".*boom/);
    },
  );
});
