import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { run } from '../stack/processes.mjs';
import { setTimeout as sleep } from 'node:timers/promises';
import { containerHeap, heapFlags } from './container-heap.mjs';
import { startBenchProcess } from './bench-process.mjs';
import { emailRequest, load } from './http-load.mjs';
import { roundOf } from './memory.mjs';
import { median, quantile } from './numbers.mjs';
import { markdown, rowsOf } from './report.mjs';
import { sampleEmail } from './sample-email.mjs';

const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const action of undo.splice(0).reverse()) await action();
});

describe('the sink', () => {
  const DIALOGUE =
    'EHLO a\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.net>\r\nDATA\r\nHello\r\n..\r\n\r\n.\r\nQUIT\r\n';

  it.each([1, 3, 1_000])('finds the end of an email that arrives in chunks of %d bytes', async (size) => {
    const sink = await startBenchProcess(new URL('./sink-process.mjs', import.meta.url));
    undo.push(() => sink.stop());
    const socket = connect((await sink.ask('listen')) as number, '127.0.0.1')
      .setNoDelay(true)
      .resume();
    undo.push(() => socket.destroy());
    for (let at = 0; at < DIALOGUE.length; at += size) {
      socket.write(DIALOGUE.slice(at, at + size));
      await sleep(1);
    }
    await sink.ask('arrivalOf', { to: 'b@example.net' });
    expect(await sink.ask('report', { warmUp: 0 })).toMatchObject({ count: 1, recipients: 1 });
  });
});

describe('the heap of an app', () => {
  it.each([
    ['512Mi', ['--max-old-space-size=256', '--max-semi-space-size=1']],
    ['640Mi', ['--max-old-space-size=320']],
    ['1Gi', ['--max-old-space-size=512']],
  ])('in a container with %s is the one that V8 chooses there', (limit, flags) => {
    expect(heapFlags(limit)).toEqual(flags);
  });

  it('is that of its container on Kubernetes', () => {
    for (const app of ['gateway', 'sender', 'scheduler', 'webhook-dispatcher'])
      expect(containerHeap(app)[0]).toMatch(/^--max-old-space-size=\d+$/);
  });
});

it('watching memory fails only at its end when an app is gone, so that a failed run is cleaned up', async () => {
  const program = `
    import { watchMemory } from './tools/bench/memory.mjs';
    const memory = watchMemory({ redisMiB: () => 0 }, { sender: { pid: 2 ** 30 } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await memory.end().catch((error) => console.log(error.code));`;
  const args = ['--input-type=module', '--eval', program];
  expect(await run({ command: process.execPath, args })).toBe('ENOENT\n');
});

it('fails before anything is measured when the results cannot be written', async () => {
  const args = ['tools/bench.mjs', '--json', '/nonexistent/results.json'];
  await expect(run({ command: process.execPath, args })).rejects.toThrow(
    /ended with 1:\nENOENT: .*'\/nonexistent\/results\.json'$/,
  );
});

describe('the load', () => {
  const serve = async (status: number): Promise<number> => {
    const server = createServer((request, response) =>
      request.resume().on('end', () => response.writeHead(status).end('{}')),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    undo.push(() => server.close());
    return (server.address() as AddressInfo).port;
  };
  const threeRequests = (port: number): (() => Buffer | undefined) => {
    const requests = Array.from({ length: 3 }, () => emailRequest(port, 'key', sampleEmail('a@example.net')));
    return () => requests.pop();
  };

  it('sends each request once and reports each answer', async () => {
    const port = await serve(200);
    let answers = 0;
    await load({ port, connections: 2, next: threeRequests(port), onAnswer: () => (answers += 1) });
    expect(answers).toBe(3);
  });

  it('fails when a request is refused', async () => {
    const port = await serve(503);
    await expect(load({ port, connections: 2, next: threeRequests(port) })).rejects.toThrow('503');
  });
});

describe('the report', () => {
  it('takes medians, and says which goals are met', () => {
    const rounds = [0.9, 1.3, 1.1].map((ratio) => ({ ratio, sender: ratio * 1_000, loop: 1_000 }));
    const table = markdown(rowsOf({ drain: new Map([['drain', rounds]]) }), { processor: 'an abacus' });
    expect(table).toContain('- processor: an abacus');
    expect(table).toMatch(
      /\| 1,100\/s \| nodemailer loop 1,000\/s \| \*\*1\.10\*\* \(0\.90–1\.30\) \|.*\| yes \|/,
    );
  });

  it('shows the process that uses most memory while many emails are due, with a unit and without a stretch goal', () => {
    const mib = { sender: 250, scheduler: 310, redis: 20 };
    const due = { emails: 100_000, foundMs: 1_500, ratio: 1.2, sender: 1_200, loop: 1_000, mib };
    const table = markdown(rowsOf({ due }), {});
    expect(table).toMatch(/100,000 emails \|.*\| \*\*1,500 ms\*\* .*\| ≤ 2000 ms \| – \| yes \|/);
    expect(table).toMatch(/scheduler 310 MiB.*\| \*\*310 MiB\*\* .*\| ≤ 300 MiB \| – \| no \|/);
  });

  it('compares storing with bare INSERTs', () => {
    const table = markdown(rowsOf({ store: [{ ratio: 0.8, ours: 20_000, bare: 25_000 }] }), {});
    expect(table).toMatch(
      /\| 20,000\/s \| three bare INSERTs 25,000\/s \| \*\*0\.80\*\* \(0\.80–0\.80\) \|.*\| yes \|/,
    );
  });

  it('compares the rounds with scheduled emails waiting with those without', () => {
    const rounds = (accept: number, drain: number) => [{ accept, drain }];
    const backlog = {
      rows: 1_000,
      accept: 0.95,
      drain: 0.8,
      without: rounds(0.4, 1),
      withBacklog: rounds(0.38, 0.8),
    };
    const table = markdown(rowsOf({ backlog: { ...backlog, redisBytes: [2_048, 2_048] } }), {});
    expect(table).toMatch(
      /1,000 emails wait: 0\.38 of the echo \| without 0\.40 \| \*\*0\.95\*\*.*\| yes \|/,
    );
    expect(table).toMatch(/0\.80 of the nodemailer loop \| without 1\.00 \| \*\*0\.80\*\*.*\| no \|/);
    expect(table).toMatch(/2\.00 KiB \| before 2\.00 KiB \| \*\*1\.00\*\*.*\| yes \|/);
  });

  it('reports the memory of the sender as medians near three points of its run, not as single samples', () => {
    const samples = Array.from({ length: 100 }, (_, index) => ({
      share: (index + 1) / 100,
      mib: index === 97 ? 900 : 100 + index / 10,
    }));
    const { mib, max, ratio } = roundOf(samples, 1_000, 500);
    expect(mib.map(Math.round)).toEqual([101, 105, 110]);
    expect(max).toBe(900);
    expect(ratio).toBeCloseTo(1.09);
    expect(() => roundOf(samples.slice(0, 50), 1_000, 500)).toThrow('near 100 %');
  });

  it('computes quantiles of a few values', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(quantile([1, 2, 3, 4], 0.99)).toBe(4);
  });
});
