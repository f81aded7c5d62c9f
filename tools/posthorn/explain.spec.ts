import { describe, expect, it } from '@jest/globals';
import { CannotStart } from '@posthorn/kernel';
import { COMMANDS } from './commands.mjs';
import { explain, withoutPassword } from './explain.mjs';
import { NotReady } from './usage-error.mjs';

const keyCreate = COMMANDS.find(({ name }) => name === 'key create');
const refusal = (message: string) => Object.assign(new Error(message), { name: 'Refusal' });
const failure = (fields: object) => Object.assign(new Error('as the driver says it'), fields);

describe('The explanation of an error', () => {
  it('names the flag where a use case names the field', () => {
    expect(explain(refusal('`displayName` has 0 characters'), keyCreate)).toBe('--name has 0 characters');
    expect(explain(refusal('`role` must be one of A, B'), keyCreate)).toBe('--role must be one of A, B');
  });

  it('leaves names alone that are not fields of the command', () => {
    expect(explain(refusal('take the domain `localhost`'), keyCreate)).toBe('take the domain `localhost`');
  });

  it.each([
    ['a database without tables', { code: 'P2021' }, 'npm run migrate'],
    ['a database without types', { code: '42704' }, 'npm run migrate'],
    ['a role without a schema', { code: '3F000' }, 'ALTER ROLE'],
    ['a role without rights', { code: '42501' }, 'the role that npm run migrate ran as'],
    [
      'what Prisma was told by Postgres',
      { code: 'P2039', meta: { driverAdapterError: { cause: { originalCode: '25006' } } } },
      'doctor says which',
    ],
    ['a refused login', { code: '28P01' }, 'correct the name and password'],
    ['a server without the database', { code: '3D000' }, 'no database of this name'],
    [
      'a pooler',
      { code: '08P01', message: 'unsupported startup parameter: lock_timeout' },
      'Postgres itself',
    ],
    ['a full disk', { code: '53100' }, 'make room'],
    ['a server that is read-only', { code: '25006' }, 'doctor says which'],
    ['a Redis that wants a login', { name: 'ReplyError', message: 'NOAUTH HELLO must be' }, 'in REDIS_URL'],
    ['a Redis that refuses it', { name: 'ReplyError', message: 'WRONGPASS invalid' }, 'in REDIS_URL'],
    ['a Redis that hangs', { message: 'Command timed out' }, 'overloaded, paused or frozen'],
    [
      'a server that takes too long',
      { message: 'timeout exceeded when trying to connect' },
      'check that it is running',
    ],
    ['a server that is frozen', { message: 'timeout expired' }, 'check that it is running'],
    [
      'a server that accepts connections and does not answer',
      { message: 'Connection terminated due to connection timeout' },
      'Nothing answers there',
    ],
    ['a server that has no time', { code: 'P2028' }, 'nothing was changed'],
    ['a server that is stopped', { code: '57P01' }, 'what has been done, then try again'],
    [
      'a connection that is lost',
      { message: 'Connection terminated unexpectedly' },
      'what has been done, then try again',
    ],
  ])('says how to mend %s', (_case, fields, words) => {
    expect(explain(failure(fields))).toContain(words);
  });

  it.each([
    ['a port', { code: 'ECONNREFUSED', address: '127.0.0.1', port: 9 }, 'at 127.0.0.1:9'],
    [
      'a name with several addresses',
      {
        code: 'ECONNREFUSED',
        errors: [
          { address: '::1', port: 9 },
          { address: '127.0.0.1', port: 9 },
        ],
      },
      'at [::1]:9',
    ],
    ['a name', { code: 'ENOTFOUND', hostname: 'db.example' }, 'at db.example'],
    [
      'a name that no name server answers for',
      { code: 'EAI_AGAIN', hostname: 'db.example' },
      'at db.example',
    ],
    ['a host without a route', { code: 'EHOSTUNREACH', address: '10.0.0.1', port: 9 }, 'at 10.0.0.1:9'],
    ['a network without a route', { code: 'ENETUNREACH', address: '10.0.0.1', port: 9 }, 'at 10.0.0.1:9'],
    ['what does not say', { code: 'ETIMEDOUT' }, 'there'],
  ])('names where nobody answers: %s', (_what, fields, where) => {
    expect(explain(failure(fields))).toMatch(
      new RegExp(`^Nothing answers ${where.replaceAll(/[[\]]/g, '\\$&')}: check that it is running`),
    );
  });

  it('is the message of an error that keeps an app from starting, of whatever class', () => {
    class OwnerRequired extends CannotStart {}
    expect(explain(new OwnerRequired('The role may not create partitions'))).toBe(
      'The role may not create partitions',
    );
  });

  it('is one line, even if the message has several', () => {
    expect(explain(new NotReady('The settings are wrong:\n  - one\n  - two'))).toBe(
      'The settings are wrong: one two',
    );
  });

  it('of an unexpected error says how to see more', () => {
    expect(explain(failure({}))).toMatch(/as the driver says it; POSTHORN_DEBUG=1 shows where$/);
  });

  it('contains no login', () => {
    expect(explain(new Error('cannot reach postgresql://ada:secret@db/x'))).not.toContain('secret');
    expect(withoutPassword('at postgres://ada:p%40ss@db:5432/x')).toBe('at postgres://***@db:5432/x');
    expect(withoutPassword('at postgres://ada:p@ss@db:5432/x')).toBe('at postgres://***@db:5432/x');
  });
});
