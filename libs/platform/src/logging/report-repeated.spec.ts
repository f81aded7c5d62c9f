import { describe, expect, it } from '@jest/globals';
import { createLogger } from './create-logger.ts';
import { reportRepeated } from './report-repeated.ts';
import { requestContext } from './request-context.ts';

describe('reportRepeated', () => {
  function reporter(): { said: object[]; report: (error: unknown) => void; wait: (ms: number) => void } {
    let now = 60_000;
    const said: object[] = [];
    const logger = { warn: (fields: object) => void said.push(fields) };
    const report = reportRepeated(logger as never, 'away', () => now);
    return { said, report, wait: (ms) => void (now += ms) };
  }

  it('logs the same error once in ten seconds, and then how often it occurred', () => {
    const { said, report, wait } = reporter();
    for (let time = 0; time < 5; time += 1) report(new Error('refused'));
    expect(said).toHaveLength(1);
    wait(10_000);
    report(new Error('refused'));
    expect(said[1]).toMatchObject({ timesBefore: 4 });
  });

  it('logs another error at once', () => {
    const { said, report } = reporter();
    report(new Error('refused'));
    report(new Error('reset'));
    report('thrown, but not an Error');
    expect(said).toHaveLength(3);
  });

  it('logs an error that many jobs report only once', () => {
    const { said, report } = reporter();
    for (const job of ['12', '13', 'repeat:deliveries.recover:1795430157592'])
      report(new Error(`Missing key for job ${job}. moveToFinished`));
    for (const job of ['12', '13'])
      report(new Error(`Job ${job} is not in the active state. moveToFinished`));
    for (const name of ['a 1', 'a 2', 'b'])
      report(new Error(`no handler for the job ${JSON.stringify(name)}`));
    report(new Error('could not renew lock for job 12'));
    expect(said).toHaveLength(4);
  });

  it('keeps a limited number of kinds of errors', () => {
    const { said, report } = reporter();
    for (let kind = 0; kind < 250; kind += 1) report(new Error(`kind ${kind}`));
    report(new Error('kind 0'));
    expect(said).toHaveLength(251);
  });

  it('logs no request id with an error of a connection that the request happened to open', () => {
    const lines: string[] = [];
    const logger = createLogger({ LOG_LEVEL: 'info' }, 'test', { write: (line) => void lines.push(line) });
    const report = reportRepeated(logger, 'away');
    requestContext.run({ requestId: 'req', workspaceId: 'wrk' }, () => report(new Error('reset')));
    expect(Object.keys(JSON.parse(lines.join('')) as object)).toEqual([
      'level',
      'time',
      'app',
      'pid',
      'err',
      'msg',
    ]);
  });
});
