import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import * as settings from '@posthorn/platform/settings';
import { ROOT } from '../stack/runtime.mjs';
import { DOCTOR_COMMANDS } from './commands/doctor.mjs';
import { findSettings, unknownNames } from './doctor/find-settings.mjs';

const groupBy = Map.groupBy;
const results = [
  { check: 'disk', kind: 'good', found: 'there is room' },
  { check: 'relay one', kind: 'unknown', found: 'it did not answer', mend: 'check that it is running' },
  { check: 'node', kind: 'fault', found: 'Node 20.19.0', mend: 'install Node 22.19 or newer' },
  { check: 'relay two', kind: 'unknown', found: 'it did not answer', mend: 'check that it is running' },
];

describe('The output of the doctor', () => {
  afterEach(() => {
    Map.groupBy = groupBy;
  });

  it('begins with faults, and shows equal findings once, even on a Node that is too old', () => {
    // Node 20 does not have it.
    Map.groupBy = undefined as never;
    expect(DOCTOR_COMMANDS[0]!.show({ isSound: false, results }, {}).split('\n')).toEqual([
      '✗ node: Node 20.19.0',
      '    install Node 22.19 or newer',
      '? it did not answer',
      '    check that it is running',
      '    (relay one, relay two)',
      '✓ disk: there is room',
      '',
      'Something is wrong (1 fault, 1 unknown, 0 to consider, 1 good).',
    ]);
  });

  it('counts equal findings as one fault, such as a database that is down', () => {
    const found = 'Nothing answers at 127.0.0.1:5433: check that it is running';
    const away = ['postgres.version', 'postgres.room', 'work.due'].map((check) => ({
      check,
      kind: 'fault',
      found,
    }));
    expect(DOCTOR_COMMANDS[0]!.show({ isSound: false, results: away }, {}).split('\n')).toEqual([
      `✗ ${found}`,
      '    (postgres.version, postgres.room, work.due)',
      '',
      'Something is wrong (1 fault, 0 unknown, 0 to consider, 0 good).',
    ]);
  });
});

it('takes nothing for a mistyped setting that docker-compose.yml reads from `.env`', () => {
  const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  // `USER` is in the environment of whoever calls Compose.
  const names = Array.from(compose.matchAll(/\$\{([A-Z_]+)/g), ([, name]) => name!);
  const inFile = names.filter((name) => name !== 'USER');
  expect(unknownNames(settings, [...inFile, 'DATABSE_URL'])).toEqual(['DATABSE_URL']);
});

it('examines the relay and the addresses that the local stack was started with, not its inbox and where it listens', () => {
  const [inbox, relay] = ['smtp://127.0.0.1:1025', 'smtps://user:password@smtp.example.org'];
  const { SMTP_URL } = process.env;
  delete process.env['SMTP_URL'];
  try {
    const [publicUrl, systemFrom] = ['https://posthorn.example.org', 'posthorn@example.org'];
    const bounces = { bounceDomain: 'bounces.localhost', inboundPort: '2526' };
    const stack = { apiUrl: 'http://127.0.0.1:3000', publicUrl, systemFrom, smtpUrl: relay, ...bounces };
    expect(findSettings({ ...stack, inbox: { smtpUrl: inbox } })).toMatchObject({
      SMTP_URL: relay,
      PUBLIC_URL: publicUrl,
      SYSTEM_FROM: systemFrom,
      BOUNCE_DOMAIN: 'bounces.localhost',
      INBOUND_PORT: '2526',
    });
  } finally {
    if (SMTP_URL !== undefined) process.env['SMTP_URL'] = SMTP_URL;
  }
});
