import { describe, expect, it } from '@jest/globals';
import { optionsOf, withoutSettings } from './run-jest.mjs';

describe('The options of jest', () => {
  it.each([
    [['--maxWorkers=1', 'libs/queues'], ['--maxWorkers=1']],
    [['--maxWorkers', '1'], ['--maxWorkers']],
    [['-w', '3'], []],
    [['libs/queues'], [expect.stringMatching(/^--maxWorkers=\d+$/)]],
  ])('name the number of workers once: %j', (given, named) => {
    const options = optionsOf(given, 'results.json');
    expect(options.filter((option) => option.startsWith('--maxWorkers'))).toEqual(named);
    expect(options.slice(-given.length)).toEqual(given);
  });
});

describe('The environment of jest', () => {
  it('has none of the settings of Posthorn and Postgres', () => {
    const env = { PATH: '/bin', CHAOS_SEED: '1', WEBHOOK_ALLOW_HTTP: 'false', PGSSLMODE: 'require' };
    expect(withoutSettings(env)).toEqual({ PATH: '/bin', CHAOS_SEED: '1' });
  });
});
