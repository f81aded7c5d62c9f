import { describe, expect, it } from '@jest/globals';
import { newId, type TemplateVersionId } from '@posthorn/kernel';
import { TemplateVersions } from './template-versions.ts';

const MIB = 1_048_576;

/** The cache, and the versions that it has looked up, each with `html` of so many characters. */
function versionsOf(characters: number): { versions: TemplateVersions; lookedUp: TemplateVersionId[] } {
  const lookedUp: TemplateVersionId[] = [];
  const html = 'x'.repeat(characters);
  const versions = new TemplateVersions({
    findVersions: (ids) => {
      lookedUp.push(...ids);
      return Promise.resolve(ids.map((id) => ({ id, parts: { subject: 's', html }, defaults: {} })));
    },
  });
  return { versions, lookedUp };
}

const newIds = (count: number): TemplateVersionId[] =>
  Array.from({ length: count }, (_, n) => newId('tpv', n));

describe('Versions of templates', () => {
  it('are looked up once, however large they are and however often they are used', async () => {
    const { versions, lookedUp } = versionsOf(5 * MIB);
    const ids = newIds(6);
    for (let n = 0; n < 100; n += 1) await versions.find(ids[n % 6]!);
    expect(lookedUp).toEqual(ids);
  });

  it.each([
    ['characters', 5 * MIB, 6],
    ['versions', 1, 500],
  ])(
    'are kept up to a number of %s, and those forgotten first that were not used for longest',
    async (_what, size, kept) => {
      const { versions, lookedUp } = versionsOf(size);
      const [first, second, ...others] = newIds(kept + 1);
      for (const id of [first!, second!, first!, ...others]) await versions.find(id);
      lookedUp.length = 0;
      for (const id of [first!, ...others]) await versions.find(id);
      expect(lookedUp).toEqual([]);
      await versions.find(second!);
      expect(lookedUp).toEqual([second]);
    },
  );
});
