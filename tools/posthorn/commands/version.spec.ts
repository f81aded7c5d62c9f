import { expect, it } from '@jest/globals';
import { RELEASE } from '@posthorn/kernel';
import { VERSION_COMMANDS } from './version.mjs';

it('The version is that of the release, beside its newest migration', async () => {
  const [command] = VERSION_COMMANDS;
  const result = await command!.run(undefined as never, {});
  expect(result.version).toBe(RELEASE);
  expect(command!.show(result, {})).toMatch(/^Posthorn \d+\.\d+\.\d+, newest migration \d{14}_[a-z_]+$/);
});
