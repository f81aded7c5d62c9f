import { describe, expect, it } from '@jest/globals';
import { newId, type TemplateVersionId } from '@posthorn/kernel';
import { TemplateVersions } from './template-versions.ts';

/** Of a length of which six are kept, and not seven. */
const LONG = 'x'.repeat(5 * 1_048_576);

/** What is kept of a version; `defaults` is JSON text. */
const TEMPLATE = newId('tpl', 0);
const EMPTY = { subject: '', html: '', text: '', previewText: '', defaults: '{}' };

/** The cache, and the versions that it has looked up, each with this content. */
function versionsOf(content: Partial<typeof EMPTY>): {
  versions: TemplateVersions;
  lookedUp: TemplateVersionId[];
} {
  const lookedUp: TemplateVersionId[] = [];
  const { defaults, ...parts } = { ...EMPTY, ...content };
  const versions = new TemplateVersions({
    findVersions: (ids) => {
      lookedUp.push(...ids);
      return Promise.resolve(ids.map((id) => ({ id, templateId: TEMPLATE, parts, defaults })));
    },
  });
  return { versions, lookedUp };
}

const newIds = (count: number): TemplateVersionId[] =>
  Array.from({ length: count }, (_, n) => newId('tpv', n));

describe('Versions of templates', () => {
  it('are looked up once, however large they are and however often they are used', async () => {
    const { versions, lookedUp } = versionsOf({ html: LONG });
    const ids = newIds(6);
    for (let n = 0; n < 100; n += 1) await versions.find(ids[n % 6]!);
    expect(lookedUp).toEqual(ids);
  });

  it('have the values of their defaults, whenever they are used', async () => {
    const { versions } = versionsOf({ defaults: String.raw`{"a\"":1,"b":{"c":[null]}}` });
    const [id] = newIds(1);
    for (const _use of ['first', 'later'])
      expect((await versions.find(id!)).defaults).toEqual({ 'a"': 1, 'b': { c: [null] } });
  });

  it.each([
    ['versions', {}, 500],
    ['characters of subjects', { subject: LONG }, 6],
    ['characters of HTML', { html: LONG }, 6],
    ['characters of texts', { text: LONG }, 6],
    ['characters of preview texts', { previewText: LONG }, 6],
    ['characters of defaults', { defaults: `{"a":"${LONG}"}` }, 6],
  ])(
    'are kept up to a number of %s, and those forgotten first that were not used for longest',
    async (_what, content, kept) => {
      const { versions, lookedUp } = versionsOf(content);
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
