import { describe, expect, it } from '@jest/globals';
import { BodyChunks } from './body-chunks.ts';

function piecesOf(count: number, piece = (n: number): Buffer => Buffer.from([n % 251])): BodyChunks {
  const pieces = new BodyChunks();
  for (let n = 0; n < count; n += 1) pieces.add(piece(n));
  return pieces;
}

describe('The chunks of a body', () => {
  it.each([0, 1, 2, 255, 256, 257, 1_000])('are joined in order: %i of them', (count) => {
    const pieces = piecesOf(count);
    expect(pieces.bytes).toBe(count);
    expect(pieces.whole()).toEqual(Buffer.from(Array.from({ length: count }, (_, n) => n % 251)));
  });

  it('are merged as they arrive: a megabyte of single bytes is kept in a few thousand buffers', () => {
    expect(piecesOf(1_000_000).kept).toBeLessThan(5_000);
  });

  it('are not copied where there is only one', () => {
    const one = Buffer.from('{"name":"a"}');
    expect(piecesOf(1, () => one).whole()).toBe(one);
  });
});
