import { afterEach, describe, expect, it } from '@jest/globals';
import { DOCTOR_COMMANDS } from './commands/doctor.mjs';

const groupBy = Map.groupBy;
const results = [
  { check: 'disk', kind: 'good', found: 'there is room' },
  { check: 'relay one', kind: 'unknown', found: 'it did not answer', mend: 'check that it is running' },
  { check: 'node', kind: 'fault', found: 'Node 20.19.0', mend: 'install Node 22.19 or newer' },
  { check: 'relay two', kind: 'unknown', found: 'it did not answer', mend: 'check that it is running' },
];

describe('What the doctor says', () => {
  afterEach(() => {
    Map.groupBy = groupBy;
  });

  it('begins with faults, and says once what several checks found, on a Node that is too old, too', () => {
    // Node 20 does not have it; that it is too old is what the doctor has to say there.
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

  it('counts what many checks found as one fault, such as a database that is away', () => {
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
