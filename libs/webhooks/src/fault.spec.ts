import { describe, expect, it } from '@jest/globals';
import { errors } from 'undici';
import { connectFault, exchangeFault, ProtocolViolation, timedOut } from './fault.ts';

const coded = (code: string): Error => Object.assign(new Error('internal words'), { code });

describe('whose fault a failure is', () => {
  it.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'ENETDOWN'])(
    'W8: %s is ours, at whatever step',
    (code) => {
      for (const fault of [
        connectFault(coded(code), 'connect'),
        connectFault(coded(code), 'tls'),
        connectFault(new AggregateError([coded('ENETUNREACH'), coded(code)]), 'connect'),
        exchangeFault(coded(code), true),
      ])
        expect(fault.kind).toBe('ours');
    },
  );

  it.each(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES', 'EPERM', 'EINVAL'])(
    'W8: %s is the receiver’s where this machine has a network',
    (code) => {
      expect(connectFault(coded(code), 'connect')).toMatchObject({ kind: 'failed', errorClass: 'connect' });
    },
  );

  it('W8: of several addresses, the reachable one counts', () => {
    const both = new AggregateError([coded('ENETUNREACH'), coded('ECONNREFUSED')]);
    expect(connectFault(both, 'connect')).toMatchObject({ reason: expect.stringContaining('refused') });
  });
});

describe('the description of a failure', () => {
  it('contains no text of the receiver but codes', () => {
    const faults = [
      connectFault(coded('ESOMETHING'), 'connect'),
      connectFault(coded('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls'),
      exchangeFault(coded('UND_ERR_SOCKET'), true),
      exchangeFault(new TypeError('internal words'), true),
      exchangeFault(undefined, false),
    ];
    for (const { reason } of faults) expect(reason).not.toContain('internal');
  });

  it('says which limit a receiver exceeded', () => {
    expect(exchangeFault(new ProtocolViolation('too much came'), true).reason).toBe('too much came');
  });

  it('says when the receiver did not answer, or not in HTTP', () => {
    expect(connectFault(coded('ETIMEDOUT'), 'connect')).toEqual({
      kind: 'failed',
      errorClass: 'timeout',
      reason: 'the receiver did not answer',
    });
    expect(exchangeFault(new errors.HTTPParserError(), true).reason).toBe(
      'the answer was not valid HTTP/1.1',
    );
  });

  it('says how long it waited, and for what', () => {
    expect(timedOut('name', 15_000).reason).toBe(
      'no answer within 15 s: the time was over while its name was looked up',
    );
  });
});
