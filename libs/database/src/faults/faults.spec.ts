import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type DatabaseFault, faultOf, isOutage } from './faults.ts';

function databaseError(code: string): Error {
  return Object.assign(new pg.DatabaseError('words', 1, 'error'), { code });
}

function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall, errno: -1 });
}

describe('A SQLSTATE means', () => {
  it.each<[string, DatabaseFault, string]>([
    ['22P05', 'data', 'untranslatable character'],
    ['22001', 'data', 'string too long'],
    ['23505', 'data', 'unique violation'],
    ['23514', 'data', 'check violation'],
    ['23503', 'data', 'foreign key violation'],
    ['40001', 'conflict', 'serialization failure'],
    ['40P01', 'conflict', 'deadlock detected'],
    ['40003', 'lost', 'statement completion unknown'],
    ['08000', 'lost', 'connection exception'],
    ['08006', 'lost', 'connection failure'],
    ['08007', 'lost', 'transaction resolution unknown'],
    ['08P01', 'lost', 'protocol violation'],
    ['08001', 'unavailable', 'unable to establish a connection'],
    ['08004', 'unavailable', 'rejected connection'],
    ['57P01', 'lost', 'terminated by an administrator'],
    ['57P02', 'lost', 'crash of another backend'],
    ['57P03', 'unavailable', 'still starting'],
    ['57P05', 'lost', 'idle session timeout'],
    ['57014', 'unavailable', 'statement timeout'],
    ['55P03', 'locked', 'lock timeout'],
    ['25006', 'unavailable', 'read-only: a standby, after a failover'],
    ['25P03', 'unavailable', 'idle in transaction for too long: rolled back'],
    ['25P04', 'unavailable', 'transaction timeout: rolled back'],
    ['53300', 'unavailable', 'too many connections'],
    ['53100', 'unavailable', 'disk full'],
    ['53200', 'unavailable', 'out of memory'],
    ['58030', 'lost', 'I/O error'],
    ['58P01', 'lost', 'undefined file'],
    ['42601', 'other', 'syntax error'],
    ['42P01', 'other', 'undefined table'],
    ['42501', 'other', 'insufficient privilege'],
    ['28P01', 'unavailable', 'wrong password'],
    ['28000', 'unavailable', 'no entry in pg_hba.conf'],
    ['3D000', 'unavailable', 'no such database'],
    ['57P04', 'other', 'database dropped'],
    ['25P02', 'other', 'in failed transaction'],
    ['XX000', 'other', 'internal error'],
    ['P0001', 'other', 'raised by a function'],
  ])('%s: %s (%s)', (code, fault) => {
    expect(faultOf(databaseError(code))).toBe(fault);
  });
});

describe('A row for which there is no partition', () => {
  it('means that the database is not ready for it yet, although its SQLSTATE is that of a CHECK', () => {
    const error = Object.assign(databaseError('23514'), { routine: 'ExecFindPartition' });
    expect(faultOf(error)).toBe('unavailable');
  });
});

describe('A fault of the network means', () => {
  it.each<[string, string, DatabaseFault]>([
    ['ECONNREFUSED', 'connect', 'unavailable'],
    ['ENOTFOUND', 'getaddrinfo', 'unavailable'],
    ['EAI_AGAIN', 'getaddrinfo', 'unavailable'],
    ['EHOSTUNREACH', 'connect', 'unavailable'],
    ['ENETUNREACH', 'connect', 'unavailable'],
    ['ETIMEDOUT', 'connect', 'unavailable'],
    ['ECONNRESET', 'connect', 'unavailable'],
    ['ENOENT', 'open', 'unavailable'],
    ['EISDIR', 'read', 'unavailable'],
    ['CERT_HAS_EXPIRED', '', 'unavailable'],
    ['ECONNRESET', 'read', 'lost'],
    ['ETIMEDOUT', 'read', 'lost'],
    ['EHOSTDOWN', 'write', 'lost'],
    ['EPIPE', 'write', 'lost'],
  ])('%s at %s: %s', (code, syscall, fault) => {
    expect(faultOf(systemError(code, syscall))).toBe(fault);
  });

  it('the first of its parts when every address of a host was tried', () => {
    const parts = ['::1', '127.0.0.1'].map(() => systemError('ECONNREFUSED', 'connect'));
    expect(faultOf(new AggregateError(parts))).toBe('unavailable');
  });
});

describe('An error message of the driver means', () => {
  it.each<[string, DatabaseFault]>([
    ['timeout exceeded when trying to connect', 'unavailable'],
    ['Cannot use a pool after calling end on the pool', 'unavailable'],
    ['Connection terminated due to connection timeout', 'unavailable'],
    ['The server does not support SSL connections', 'unavailable'],
    ['Connection terminated unexpectedly', 'lost'],
    ['Connection terminated', 'lost'],
    ['Query read timeout', 'lost'],
    ['Client has encountered a connection error and is not queryable', 'lost'],
    ['Client was closed and is not queryable', 'lost'],
    ['bind message supplies 1 parameters', 'other'],
  ])('%s: %s', (message, fault) => {
    expect(faultOf(new Error(message))).toBe(fault);
  });
});

describe('A programming error', () => {
  it.each<[string, unknown]>([
    ['a wrong argument', Object.assign(new TypeError('wrong'), { code: 'ERR_INVALID_ARG_TYPE' })],
    ['a plain error', new Error('something else')],
    ['a text', 'thrown text'],
    ['nothing', undefined],
    ['null', null],
    ['an empty aggregate', new AggregateError([])],
  ])('is no outage: %s', (_what, error) => {
    expect(faultOf(error)).toBe('other');
    expect(isOutage(error)).toBe(false);
  });
});

describe('An outage', () => {
  it.each<[string, boolean]>([
    ['57P03', true],
    ['57P01', true],
    ['55P03', true],
    ['40001', true],
    ['40P01', true],
    ['23505', false],
    ['42601', false],
  ])('%s: %s', (code, expected) => {
    expect(isOutage(databaseError(code))).toBe(expected);
  });
});
