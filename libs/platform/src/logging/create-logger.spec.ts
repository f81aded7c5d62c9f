import { describe, expect, it } from '@jest/globals';
import { createLogger, type Logger } from './create-logger.ts';
import { NestPinoLogger } from './nest-pino-logger.ts';
import { requestContext } from './request-context.ts';

interface Line extends Record<string, unknown> {
  level: string;
  msg: string;
}

function linesOf(write: (logger: Logger) => void): Line[] {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  write(createLogger({ LOG_LEVEL: 'debug' }, 'gateway', destination));
  return lines;
}

describe('createLogger', () => {
  it('writes JSON with an ISO time, the level in words and the name of the app', () => {
    const [line] = linesOf((logger) => logger.info('hello'));
    expect(line).toMatchObject({ level: 'info', app: 'gateway', msg: 'hello' });
    expect(line?.['time']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('adds the id of the current request to each line', () => {
    const lines = linesOf((logger) => {
      requestContext.run({ requestId: 'r-1' }, () => logger.info('inside'));
      logger.info('outside');
    });
    expect(lines.map((line) => line['requestId'])).toEqual(['r-1', undefined]);
  });

  it('redacts secrets and contents by field name, at any depth', () => {
    const [line] = linesOf((logger) =>
      logger.info(
        {
          headers: { 'Authorization': 'Basic x', 'set-cookie': 'y' },
          email: { to: 'jane', subject: 'Your code', html: '<p>1234</p>', id: 'trs_1' },
          list: [{ secret_key: 'z', token: 't' }],
        },
        'sent',
      ),
    );
    expect(line).toMatchObject({
      headers: { 'Authorization': '[redacted]', 'set-cookie': '[redacted]' },
      email: '[redacted]',
      list: [{ secret_key: '[redacted]', token: '[redacted]' }],
    });
  });

  it('redacts the bindings of child loggers', () => {
    const [line] = linesOf((logger) =>
      logger.child({ lane: 1 }).child({ password: 'hunter2', emailId: 'trs_1' }).info('x'),
    );
    expect(line).toMatchObject({ lane: 1, password: '[redacted]', emailId: 'trs_1' });
  });

  it('logs the type, code, message, stack and cause of an error, redacted, and no other properties', () => {
    const cause = new Error('connect postgres://u:hunter2@db/x');
    const error = Object.assign(new TypeError('jane@example.com used phk_abc', { cause }), {
      code: '23505',
      query: 'INSERT … hunter2',
      parameters: ['hunter2'],
    });
    const lines = linesOf((logger) => {
      logger.error(error);
      logger.error({ err: error }, 'failed');
    });
    expect(JSON.stringify(lines)).not.toMatch(/hunter2|jane|phk_abc/);
    const err = { type: 'TypeError', code: '23505', message: '***@example.com used phk_***' };
    expect(lines).toMatchObject([
      { err, msg: err.message },
      { err, msg: 'failed' },
    ]);
    expect(lines[0]).toMatchObject({ err: { cause: { message: 'connect postgres://[credentials]@db/x' } } });
  });

  it('logs the numeric code of an error, and the errors of several attempts, redacted', () => {
    const cause = Object.assign(new Error('x'), { code: 57 });
    const errors = [new Error('jane@example.com'), Object.assign(new Error('y'), { code: ['jane'] })];
    const [line] = linesOf((logger) => logger.error(new AggregateError(errors, 'all', { cause })));
    expect(line).toMatchObject({
      err: { cause: { code: 57 }, errors: [{ message: '***@example.com' }, { message: 'y' }] },
    });
    expect(JSON.stringify(line)).not.toContain('jane');
  });

  it('logs of bytes only how many they are', () => {
    const [line] = linesOf((logger) => logger.info({ chunk: Buffer.from('jane'), none: null }, 'x'));
    expect(line).toMatchObject({ chunk: '[4 bytes]', none: null });
  });

  it('logs circular references without failing', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    const list: unknown[] = [];
    list.push(list);
    const error = new Error('x');
    error.cause = error;
    expect(linesOf((logger) => logger.info({ loop, list, error }, 'x'))).toHaveLength(1);
  });
});

describe('NestPinoLogger', () => {
  it('writes messages of Nest with their context, those about its start only at debug level', () => {
    const error = new Error('boom');
    const lines = linesOf((logger) => {
      const nest = new NestPinoLogger(logger);
      nest.log('Mapped {/x, GET} route', 'RouterExplorer');
      nest.log('ready', 'App');
      nest.warn('careful');
      nest.error('failed', 'Error: failed\n at x', 'App');
      nest.error(error, 'App');
      nest.error('failed with', error);
      nest.fatal({ code: 1 }, 'App');
    });
    expect(lines).toMatchObject([
      { level: 'debug', context: 'RouterExplorer' },
      { level: 'info', msg: 'ready', context: 'App' },
      { level: 'warn', msg: 'careful' },
      { level: 'error', msg: 'failed', stack: 'Error: failed\n at x', context: 'App' },
      { level: 'error', msg: 'boom', err: { message: 'boom' }, context: 'App' },
      { level: 'error', msg: 'failed with', err: { message: 'boom' } },
      { level: 'fatal', details: { code: 1 } },
    ]);
    expect(lines.filter((line) => 'stack' in line)).toHaveLength(1);
    expect(lines.filter((line) => 'context' in line)).toHaveLength(5);
  });
});
