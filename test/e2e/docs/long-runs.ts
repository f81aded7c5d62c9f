import { expect } from '@jest/globals';
import { callsOf } from './called.ts';
import type { Checkout } from './checkout.ts';
import type { Fence } from './fences.ts';

/** Holds each call of an npm script against what the script says of itself: its flags, and the words that they take. */
export async function helpHolds(fence: Fence, checkout: Checkout): Promise<void> {
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
