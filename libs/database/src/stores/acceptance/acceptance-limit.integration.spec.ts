import { describe, expect, it } from '@jest/globals';
import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import fc from 'fast-check';
import { rawEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';

const stores = await openTestStores();
const otherStores = stores.another();

async function acceptMany(workspaceId: WorkspaceId, count: number, monthlyLimit: number | null) {
  const emails = Array.from({ length: count }, () => rawEmail(workspaceId));
  const outcomes = await stores.accept(emails, monthlyLimit);
  return outcomes.filter((outcome) => outcome.kind === 'accepted').length;
}

async function usageOf(workspaceId: WorkspaceId): Promise<{ month: string; accepted: number }[]> {
  return stores.ask('SELECT month::text, accepted FROM usage WHERE workspace_id = $1 ORDER BY month', [
    uuidOf(workspaceId),
  ]);
}

describe('S13: the monthly limit', () => {
  it.each([
    { own: null, installation: null, wanted: [3, 4], accepted: [3, 4], means: 'no limit at all' },
    { own: 0, installation: 2, wanted: [3, 4], accepted: [3, 4], means: 'a workspace freed of the limit' },
    { own: null, installation: 5, wanted: [3, 4], accepted: [3, 2], means: "the installation's limit" },
    { own: null, installation: 0, wanted: [3, 4], accepted: [3, 4], means: 'an installation without limit' },
    { own: 6, installation: 2, wanted: [3, 4], accepted: [3, 3], means: 'a wider limit of its own' },
    { own: 1, installation: 9, wanted: [3, 4], accepted: [1, 0], means: 'a narrower limit of its own' },
    { own: 5, installation: null, wanted: [5, 1], accepted: [5, 0], means: 'a limit reached exactly' },
  ])('accepts $accepted of $wanted: $means', async ({ own, installation, wanted, accepted }) => {
    const workspaceId = await stores.openWorkspace(own);
    const counts = [];
    for (const count of wanted) counts.push(await acceptMany(workspaceId, count, installation));

    expect(counts).toEqual(accepted);
    const total = accepted.reduce((sum, count) => sum + count);
    expect((await usageOf(workspaceId))[0]!.accepted).toBe(total);
    expect(await stores.count('emails', 'workspace_id = $1', [uuidOf(workspaceId)])).toBe(total);
  });

  it('accepts nothing more, and keeps accepted emails, when it is lowered below the usage', async () => {
    const workspaceId = await stores.openWorkspace();
    await acceptMany(workspaceId, 5, null);
    const refused = { kind: 'over_limit', used: 5, monthlyLimit: 3 };
    expect(await stores.accept([rawEmail(workspaceId)], 3)).toEqual([refused]);
    expect((await usageOf(workspaceId))[0]!.accepted).toBe(5);
  });

  it('is refused with the usage and the limit', async () => {
    const workspaceId = await stores.openWorkspace(2);
    const group = [rawEmail(workspaceId), rawEmail(workspaceId), rawEmail(workspaceId)];
    const refused = { kind: 'over_limit', used: 2, monthlyLimit: 2 };
    expect((await stores.accept(group, null))[2]).toEqual(refused);
    expect(await stores.accept([rawEmail(workspaceId)], null)).toEqual([refused]);
  });

  it('does not count emails of unverified senders', async () => {
    const workspaceId = await stores.openWorkspace(2);
    const stranger = { from: { address: 'a@other.example' }, fromDomain: 'other.example' };
    const group = [rawEmail(workspaceId, stranger), rawEmail(workspaceId), rawEmail(workspaceId)];
    expect((await stores.accept(group, null)).map((outcome) => outcome.kind)).toEqual([
      'unverified',
      'accepted',
      'accepted',
    ]);
  });
});

describe('S13: the month of the limit', () => {
  const [last, first] = [new Date('2027-01-31T23:59:59.999Z'), new Date('2027-02-01T00:00:00.000Z')];

  async function acceptAt(moments: Date[], workspaceId: WorkspaceId): Promise<string[]> {
    const emails = moments.map((acceptedAt) => rawEmail(workspaceId, { acceptedAt }));
    return (await stores.accept(emails, 1)).map(({ kind }) => kind);
  }

  it('begins and ends at midnight in UTC, and each month counts for itself', async () => {
    const workspaceId = await stores.openWorkspace();
    expect(await acceptAt([last], workspaceId)).toEqual(['accepted']);
    expect(await acceptAt([last], workspaceId)).toEqual(['over_limit']);
    expect(await acceptAt([first], workspaceId)).toEqual(['accepted']);
    expect(await acceptAt([new Date('2027-02-28T23:59:59.999Z')], workspaceId)).toEqual(['over_limit']);
    expect(await usageOf(workspaceId)).toEqual([
      { month: '2027-01-01', accepted: 1 },
      { month: '2027-02-01', accepted: 1 },
    ]);
  });

  it('is that of each email, also in a group with emails before and after its end', async () => {
    const [one, other] = [await stores.openWorkspace(), await stores.openWorkspace()];
    await stores.accept([rawEmail(one, { acceptedAt: last })], 2);
    const emails = [one, other].flatMap((workspaceId) =>
      [last, first, last, first].map((acceptedAt) => rawEmail(workspaceId, { acceptedAt })),
    );
    const kinds = (await stores.accept(emails, 2)).map(({ kind }) => kind);
    const all = ['accepted', 'accepted', 'accepted', 'accepted'];
    expect(kinds).toEqual(['accepted', 'accepted', 'over_limit', 'accepted', ...all]);
    for (const workspaceId of [one, other]) {
      expect((await usageOf(workspaceId)).map(({ accepted }) => accepted)).toEqual([2, 2]);
    }
  });
});

describe('S13: the monthly limit under concurrency', () => {
  /** Groups of (workspace, emails) parts; the limits of four workspaces, 0 being none. */
  const race = fc.record({
    limits: fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 4, maxLength: 4 }),
    groups: fc.array(
      fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 6 }),
      { minLength: 10, maxLength: 24 },
    ),
  });

  it('is exact in concurrent calls of two processes', async () => {
    await fc.assert(
      fc.asyncProperty(race, async ({ limits, groups }) => {
        const workspaces = await Promise.all(limits.map((limit) => stores.openWorkspace(limit)));
        const demanded = limits.map(() => 0);
        const answers = await Promise.all(
          groups.map((parts, n) => {
            const emails = parts.flatMap(([which, count]) => {
              demanded[which]! += count;
              return Array.from({ length: count }, () => rawEmail(workspaces[which]!));
            });
            return (n % 2 === 0 ? stores : otherStores).accept(emails, null);
          }),
        );
        const possible = limits.map((limit, which) => Math.min(limit || Infinity, demanded[which]!));
        const told = answers.flat().filter((outcome) => outcome.kind === 'accepted').length;
        expect(told).toBe(possible.reduce((sum, count) => sum + count));
        for (const [which, workspaceId] of workspaces.entries()) {
          expect((await usageOf(workspaceId))[0]?.accepted ?? 0).toBe(possible[which]);
          expect(await stores.count('emails', 'workspace_id = $1', [uuidOf(workspaceId)])).toBe(
            possible[which],
          );
        }
      }),
      { numRuns: 15 },
    );
  });
});
