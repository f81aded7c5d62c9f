import { describe, expect, it } from '@jest/globals';
import { IsBoolean, IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import { DatabaseSettings, HttpSettings, RedisSettings } from './connection-settings.ts';
import { describeSettings } from './describe-settings.ts';
import { LaneSettings } from './lane-settings.ts';
import { readSettings, SettingsError } from './read-settings.ts';
import { Setting } from './setting.ts';
import { TrackingSettings } from './tracking-settings.ts';
import { AreUrlsWithScheme } from './url-with-scheme.ts';

class OvenSettings {
  @Setting('How hot it gets, in degrees.')
  @IsInt()
  @Min(50)
  @Max(300)
  OVEN_HEAT = 180;

  @Setting('Whether the fan turns.')
  @IsBoolean()
  OVEN_FAN = true;

  @Setting('Where the recipe is.', { secret: true })
  @AreUrlsWithScheme('https')
  RECIPE_URL!: string;

  @Setting('What is in it.')
  @IsOptional()
  @IsIn(['bread', 'cake'])
  CONTENT?: string;
}

const RECIPE_URL = 'https://cook:s3cret@example.com/';

function faultsOf(env: Record<string, string>): string[] {
  try {
    readSettings({ oven: OvenSettings, database: DatabaseSettings }, env);
  } catch (error) {
    if (error instanceof SettingsError) return [...error.faults];
  }
  return [];
}

describe('readSettings', () => {
  it('converts each variable to the type of its property', () => {
    const { oven } = readSettings(
      { oven: OvenSettings },
      { RECIPE_URL, OVEN_HEAT: '200', OVEN_FAN: 'false' },
    );
    expect(oven).toBeInstanceOf(OvenSettings);
    expect({ ...oven }).toEqual({ RECIPE_URL, OVEN_HEAT: 200, OVEN_FAN: false });
  });

  it('refuses a missing variable, even if any text would do', () => {
    class BakerSettings {
      @Setting('Who bakes.')
      BAKER!: string;
    }
    expect(() => readSettings({ baker: BakerSettings }, {})).toThrow('BAKER is not set; it must be text');
  });

  it('treats an empty variable as unset', () => {
    const { oven } = readSettings({ oven: OvenSettings }, { RECIPE_URL, OVEN_HEAT: '', CONTENT: '' });
    expect(oven.OVEN_HEAT).toBe(180);
    expect(oven.CONTENT).toBeUndefined();
  });

  it('reports all faults of all sections together', () => {
    expect(
      faultsOf({
        OVEN_HEAT: '5000',
        OVEN_FAN: 'constructor',
        RECIPE_URL: '',
        CONTENT: 'soup',
        DATABASE_POOL_SIZE: '1e3',
      }),
    ).toEqual([
      'OVEN_HEAT is "5000"; it must be a whole number, at least 50, at most 300',
      'OVEN_FAN is "constructor"; it must be `true` or `false`',
      'RECIPE_URL is not set; it must be URLs that begin with https://, separated by spaces',
      'CONTENT is "soup"; it must be one of bread, cake',
      'DATABASE_URL is not set; it must be a URL that begins with postgresql:// or postgres:// and has one host, which leads to the primary; user and password are percent-encoded',
      'DATABASE_POOL_SIZE is "1e3"; it must be a whole number, at least 2, at most 500',
    ]);
  });

  it.each<[string, number]>([
    [' https://one.example  https://two.example\n', 0],
    ['https://one.example ftp://two.example', 1],
  ])('accepts several URLs only if all of them are allowed: %j', (urls, faults) => {
    expect(faultsOf({ RECIPE_URL: urls, DATABASE_URL: 'postgresql://h/d' })).toHaveLength(faults);
  });

  it('never shows the value of a secret', () => {
    const faults = faultsOf({
      RECIPE_URL: 'ftp://cook:s3cret@example.com/',
      DATABASE_URL: 'mysql://u:pa55@h/d',
    });
    expect(faults).toHaveLength(2);
    expect(faults.join()).not.toMatch(/s3cret|pa55/);
  });

  it.each([
    'postgresql://u:p@one:5432,two:5432/posthorn?target_session_attrs=read-write',
    'postgresql://u:p@one,two/posthorn',
    'postgresql:///posthorn?host=one,two',
  ])('refuses a list of hosts, and asks for a single one: %s', (url) => {
    const faults = faultsOf({ RECIPE_URL, DATABASE_URL: url });
    expect(faults).toEqual([
      expect.stringMatching(/^DATABASE_URL .* has one host, which leads to the primary; .*$/),
    ]);
  });

  it.each([
    'postgresql://u:hunter%2@h/posthorn',
    'postgresql://u:hunter%E4@h/posthorn', // The driver would throw, and say nothing of the setting.
    'postgresql://u:hunter/2@h/posthorn',
    'postgresql://u:hunter#2@h/posthorn',
    // The host would be `u`, at the port 12, and that would be shown where it does not answer.
    'postgresql://u:12/hunter@h/posthorn',
    'postgresql://u:12#hunter@h/posthorn',
  ])('asks for a percent-encoded password of Postgres, without repeating it: %s', (url) => {
    expect(faultsOf({ RECIPE_URL, DATABASE_URL: url })).toEqual([
      expect.stringMatching(
        /^DATABASE_URL has a value that is not allowed; .*; user and password are percent-encoded$/,
      ),
    ]);
  });

  it.each([
    'postgresql://u:p%40ss%2F%25@h:5432/posthorn?sslmode=verify-full',
    'postgresql://u:p@ss@h/posthorn',
    'postgresql://u@%2Fvar%2Frun%2Fpostgresql/posthorn',
    'postgresql://u@localhost/posthorn?host=/var/run/postgresql&application_name=a@b',
  ])('accepts a URL of Postgres: %s', (url) => {
    expect(faultsOf({ RECIPE_URL, DATABASE_URL: url })).toEqual([]);
  });

  it.each([
    'redis://:hunter2%@redis', // The program that connects would throw, and say nothing of the setting.
    'redis://hunter2%:x@redis',
    'redis://redis/hunter2',
    'redis://me:12#hunter2@redis',
    'redis://redis/-1',
  ])('refuses an invalid URL of Redis, without repeating it: %s', (REDIS_URL) => {
    expect(() => readSettings({ redis: RedisSettings }, { REDIS_URL })).toThrow(
      /^The settings are not usable:\n {2}- REDIS_URL has a value that is not allowed; it must be a URL that begins with redis:\/\/ or rediss:\/\/, with user and password percent-encoded, and ends with the number of its database unless that is 0$/,
    );
  });

  it.each([
    'redis://redis',
    'rediss://me:p%40ss@redis:6380/15',
    'redis://redis/\n',
    'redis://redis?family=6',
  ])('accepts a URL of Redis: %j', (REDIS_URL) => {
    expect(readSettings({ redis: RedisSettings }, { REDIS_URL }).redis.REDIS_URL).toBe(REDIS_URL);
  });

  it.each([
    'https://mail.example.com/ ',
    ' https://mail.example.com',
    'https://mail.example.com\n',
    'https://mail.example.com?from=posthorn',
    'https://mail.example.com/#top',
    'https://me:hunter2@mail.example.com',
  ])('refuses an address to which no path can be appended: %j', (PUBLIC_URL) => {
    expect(() => readSettings({ http: HttpSettings }, { PUBLIC_URL })).toThrow(
      /PUBLIC_URL is .*; it must be a URL that begins with https:\/\/ or http:\/\/, without user, query, fragment or spaces$/,
    );
  });

  it('validates settings that depend on each other', () => {
    const env = { LEASE_MS: '30000', LEASE_RENEWAL_MS: '20000', LEASE_MARGIN_MS: '10000' };
    expect(() => readSettings({ lanes: LaneSettings }, env)).toThrow(
      /together must be less than LEASE_MS \(30000\)/,
    );
    expect(() => readSettings({ lanes: LaneSettings }, {})).not.toThrow();
  });

  it.each([
    [{}, 'http://localhost:3000'],
    [{ HTTP_PORT: '8080' }, 'http://localhost:8080'],
    [{ PUBLIC_URL: 'https://mail.example.com/' }, 'https://mail.example.com'],
    [{ PUBLIC_URL: 'https://mail.example.com/Posthorn/' }, 'https://mail.example.com/Posthorn'],
  ])('determines the public URL: %j gives %s', (env, publicUrl) => {
    expect(readSettings({ http: HttpSettings }, env).http.publicUrl).toBe(publicUrl);
  });

  it.each([
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['HTTPS://Mail.example.com', 'https://mail.example.com'],
    ['https:/mail.example.com', 'https://mail.example.com'],
    ['https://mail.example.com/<mails>', 'https://mail.example.com/%3Cmails%3E'],
  ])('gives the addresses in links the form that a header can have: %s', (given, url) => {
    const env = { PUBLIC_URL: given, TRACKING_URL: given };
    const { http, tracking } = readSettings({ http: HttpSettings, tracking: TrackingSettings }, env);
    expect([http.publicUrl, tracking.trackingUrl('')]).toEqual([url, url]);
  });
});

describe('describeSettings', () => {
  it('returns what operators need to know about each setting', () => {
    expect(describeSettings({ oven: OvenSettings })).toMatchObject([
      {
        section: 'oven',
        name: 'OVEN_HEAT',
        sentence: 'How hot it gets, in degrees.',
        default: '180',
        required: false,
      },
      { name: 'OVEN_FAN', allowed: '`true` or `false`', default: 'true' },
      { name: 'RECIPE_URL', required: true, secret: true },
      { name: 'CONTENT', allowed: 'one of bread, cake', required: false },
    ]);
  });
});
