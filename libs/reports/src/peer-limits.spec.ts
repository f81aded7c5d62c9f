import { describe, expect, it } from '@jest/globals';
import { PeerLimits } from './peer-limits.ts';

const [ADA, BOB] = ['192.0.2.1', '192.0.2.2'] as const;

function limitsOf(allConnections: number, connections: number): PeerLimits {
  return new PeerLimits({ allConnections, connections, recipients: null, peerOf: (address) => address });
}

describe('The connections of an address', () => {
  it('are never more than allowed, however often it ends one', () => {
    const limits = limitsOf(10, 3);
    for (let n = 0; n < 3; n += 1) expect(limits.connect(ADA)).toBeUndefined();
    expect(limits.connect(ADA)).toBe('tooManyConnections');
    for (let round = 0; round < 5; round += 1) {
      limits.disconnect(ADA);
      expect([limits.connect(ADA), limits.connect(ADA)]).toEqual([undefined, 'tooManyConnections']);
    }
    expect(limits.connect(BOB)).toBeUndefined();
  });

  it('are refused while all addresses together have as many as allowed', () => {
    const limits = limitsOf(2, 2);
    expect([limits.connect(ADA), limits.connect(BOB), limits.connect(BOB)]).toEqual([
      undefined,
      undefined,
      'full',
    ]);
    limits.disconnect(ADA);
    expect([limits.connect(BOB), limits.connect(ADA)]).toEqual([undefined, 'full']);
  });
});
