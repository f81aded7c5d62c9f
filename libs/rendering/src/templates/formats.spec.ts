import { spawnSync } from 'node:child_process';
import { expect, it } from '@jest/globals';

it('S3: formats as en-US for a language that Node does not know, whatever the language of the machine', () => {
  const code = `
    import { formattedDate, formattedNumber } from '${import.meta.resolve('./formats.ts')}';
    const options = { locale: 'xx' };
    console.log(formattedNumber(1234.5, options), formattedDate('2026-05-01', 'long', options));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    env: { ...process.env, LC_ALL: 'de_DE.UTF-8' },
    encoding: 'utf8',
  });
  expect(stdout).toBe('1,234.5 May 1, 2026\n');
});
