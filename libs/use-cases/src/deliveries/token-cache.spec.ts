import { generateKeySync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { SecretBox } from '@posthorn/signing';
import { TokenCache } from './token-cache.ts';

const PLACE = 'webhooks.token/one';

function make() {
  const box = new SecretBox([{ id: 'first', key: generateKeySync('aes', { length: 256 }) }]);
  let opened = 0;
  const tokens = new TokenCache({
    open: (...sealed) => {
      opened += 1;
      return box.open(...sealed);
    },
  });
  return { box, tokens, timesOpened: () => opened };
}

describe('TokenCache', () => {
  it('decrypts each token once, and its replacement, too', () => {
    const { box, tokens, timesOpened } = make();
    const [old, next] = [box.seal('old', PLACE), box.seal('next', PLACE)];
    const asked = [old, old, next, Buffer.from(next), old];
    const opened = asked.map((sealed) => tokens.open(sealed, PLACE).export().toString());
    expect(opened).toEqual(['old', 'old', 'next', 'next', 'old']);
    expect(timesOpened()).toBe(2);
  });

  it('does not decrypt a token in another context, nor a changed one, however often it is called', () => {
    const { box, tokens } = make();
    const sealed = box.seal('token', PLACE);
    tokens.open(sealed, PLACE);
    expect(() => tokens.open(sealed, 'webhooks.token/two')).toThrow();
    sealed[sealed.length - 1]! ^= 1;
    for (const _again of [1, 2]) expect(() => tokens.open(sealed, PLACE)).toThrow();
  });

  it('keeps a limited number of tokens, the last used the longest', () => {
    const { box, tokens, timesOpened } = make();
    const [used, unused, ...others] = Array.from({ length: 1_001 }, (_, n) => box.seal(`${n}`, PLACE));
    for (const sealed of [used!, unused!, used!, ...others, used!]) tokens.open(sealed, PLACE);
    expect(timesOpened()).toBe(1_001);
    tokens.open(unused!, PLACE);
    expect(timesOpened()).toBe(1_002);
  });
});
