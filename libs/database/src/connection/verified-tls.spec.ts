import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { withVerifiedTls } from './verified-tls.ts';

const BASE = 'postgresql://ada:p%40ss@db.example:5432/posthorn';

describe('A database URL with verified TLS', () => {
  it.each(['prefer', 'require', 'verify-ca', 'verify-full'])(
    'verifies everything with sslmode=%s',
    (mode) => {
      expect(withVerifiedTls(`${BASE}?sslmode=${mode}`)).toBe(`${BASE}?sslmode=verify-full`);
      expect(withVerifiedTls(`${BASE}?options=-c%20a%3D1&sslmode=${mode}&sslrootcert=/ca.crt`)).toBe(
        `${BASE}?options=-c%20a%3D1&sslmode=verify-full&sslrootcert=/ca.crt`,
      );
    },
  );

  it.each([
    '',
    '?sslmode=disable',
    '?sslmode=no-verify',
    '?sslmode=required',
    '?application_name=sslmode=require',
    '?uselibpqcompat=true&sslmode=require',
    '?sslmode=verify-ca&sslrootcert=/ca.crt&uselibpqcompat=true',
  ])('is unchanged with %s', (query) => {
    expect(withVerifiedTls(BASE + query)).toBe(BASE + query);
  });

  it('is read by the driver without a warning, and leaves the verification on', () => {
    const client = new pg.Client({ connectionString: withVerifiedTls(`${BASE}?sslmode=require`) });
    expect(client).toMatchObject({ connectionParameters: { ssl: {} } });
    expect(client).not.toHaveProperty('connectionParameters.ssl.rejectUnauthorized');
  });
});
