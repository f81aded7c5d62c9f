import { expect } from '@jest/globals';
import { callsOf } from './program-calls.ts';
import type { Checkout } from './checkout.ts';
import type { Fence } from './fences.ts';

/** Checks a block's calls of npm scripts against the `--help` of each: its flags and their values. */
export async function checkScriptCalls(fence: Fence, checkout: Checkout): Promise<void> {
  const calls = await callsOf(fence, ['npm'], checkout);
  expect(calls).not.toEqual([]);
  for (const [npm, verb, script, ...words] of calls) {
    expect([npm, verb]).toEqual(['npm', 'run']);
    const { code, stdout } = await checkout.run({ language: 'sh', code: `npm run ${script} -- --help` });
    expect({ script, code }).toEqual({ script, code: 0 });
    const known = stdout.split(/[^\w-]+/);
    const given = words
      .filter((word) => /^[\w,-]+$/.test(word) && word !== '--')
      .flatMap((word) => word.split(','));
    expect({ script, unknown: given.filter((word) => !/^\d+$/.test(word) && !known.includes(word)) }).toEqual(
      {
        script,
        unknown: [],
      },
    );
  }
}
