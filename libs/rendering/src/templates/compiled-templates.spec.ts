import { describe, expect, it } from '@jest/globals';
import { CompiledTemplates } from './compiled-templates.ts';
import { OutputTooLarge } from './output.ts';
import type { TemplateParts } from './template-parts.ts';

let versions = 0;
const render = (parts: Partial<TemplateParts>, variables: object = {}, defaults: object = {}) =>
  new CompiledTemplates().render(
    {
      id: `v${(versions += 1)}`,
      parts: { subject: 'Hi', html: '', ...parts },
      defaults: defaults as Record<string, unknown>,
    },
    variables as Record<string, unknown>,
  );
const htmlOf = (html: string, variables: object = {}, defaults: object = {}) =>
  render({ html }, variables, defaults).html;

describe('CompiledTemplates', () => {
  it('S3: renders variables of any name, even of properties that all objects have', () => {
    const variables = { toString: {}, valueOf: 1, a: 'x', list: [{ toString: 1 }, 'y'] };
    expect(htmlOf('{{#a}}{{../a}}{{this}}{{/a}}{{#each list}}{{../a}}{{/each}}', variables)).toBe('xxxx');
  });

  it('keeps what was compiled up to a length of its code, the last used the longest', () => {
    const templates = new CompiledTemplates(100_000);
    const rendered = (id: string, html: string) =>
      templates.render({ id, parts: { subject: '', html }, defaults: {} }, {}).html;
    const large = 'b{{x}}'.repeat(300);
    expect([rendered('a', 'a'), rendered('b', large), rendered('a', 'new')]).toEqual([
      'a',
      'b'.repeat(300),
      'a',
    ]);
    rendered('c', large);
    expect([rendered('a', 'new'), rendered('b', 'new')]).toEqual(['a', 'new']);
  });

  it('S3: escapes in the HTML only', () => {
    const parts = { subject: '{{a}}', html: '{{a}} {{{a}}} {{&a}}', text: '{{a}}', previewText: '{{a}}' };
    expect(render(parts, { a: `<b>"T" & 'J' \`=` })).toEqual({
      subject: `<b>"T" & 'J' \`=`,
      html: `&lt;b&gt;&quot;T&quot; &amp; &#x27;J&#x27; &#x60;&#x3D; <b>"T" & 'J' \`= <b>"T" & 'J' \`=`,
      text: `<b>"T" & 'J' \`=`,
      previewText: `<b>"T" & 'J' \`=`,
    });
  });

  it('S3: renders subject and preview text as one line, so that no variable can add a header', () => {
    const parts = { subject: 'Hi\n {{a}}', previewText: '{{a}}' };
    const { subject, previewText } = render(parts, { a: 'Ann\r\nBcc: eve@example.com\0\u2028x\u0085' });
    expect(subject).toBe('Hi Ann Bcc: eve@example.com x');
    expect(previewText).toBe('Ann Bcc: eve@example.com x');
  });

  it('S3: prints no half of a character: many parsers of JSON would refuse the answer that shows it', () => {
    const source = '{{name.[0]}}|{{lookup name 1}}|{{truncate name 1 ""}}';
    const rendered = render(
      { subject: source, html: source, text: source, previewText: source },
      { name: '😀 Ann' },
    );
    expect(new Set(Object.values(rendered))).toEqual(new Set(['\ufffd|\ufffd|😀']));
  });

  it.each([
    ['{{missing}}|{{a.b.c}}|{{nothing}}', '||'],
    ['{{zero}} {{no}} {{list}} {{object}}', '0 false 1,,x [object Object]'],
    ['{{object.toString}} {{object.toHTML}} {{list.constructor}} {{constructor}} {{__proto__.x}}', '1 2   '],
    ['{{#each list}}{{@index}}{{#unless @last}},{{/unless}}{{/each}}', '0,1,2'],
    ['{{#each object}}{{@key}}={{this}} {{/each}}', 'toString=1 toHTML=2 valueOf=3 '],
    ['{{#each missing}}x{{else}}none{{/each}}', 'none'],
    [
      '{{#each people as |p n|}}{{n}}{{p.name}}{{#each p.tags}}{{.}}{{../name}}{{@root.zero}}{{/each}}{{/each}}',
      '0AnnaAnn01Bob',
    ],
    ['{{#with people.[0]}}{{name}}{{/with}}', 'Ann'],
    ['{{#people}}{{name}}{{/people}}{{^none}}nobody{{/none}}{{#yes}}{{zero}}{{/yes}}', 'AnnBobnobody0'],
    [
      '{{#if list}}a{{/if}}{{#if empty}}b{{/if}}{{#if zero}}c{{/if}}{{#if zero includeZero=true}}d{{/if}}',
      'ad',
    ],
    ['{{lookup object "toHTML"}} {{lookup list 2}} {{lookup object list}} {{lookup missing "x"}}', '2 x  '],
    ['a {{~yes~}} b', 'atrueb'],
    [
      '<ul>\n  {{#each people}}\n  <li>{{name}}</li>\n  {{/each}}\n</ul>',
      '<ul>\n  <li>Ann</li>\n  <li>Bob</li>\n</ul>',
    ],
  ])('S3: prints %s as Handlebars does', (html, printed) => {
    const variables = {
      nothing: null,
      zero: 0,
      no: false,
      yes: true,
      empty: [],
      list: [1, null, 'x'],
      object: { toString: 1, toHTML: 2, valueOf: 3 },
      people: [{ name: 'Ann', tags: ['a'] }, { name: 'Bob' }],
    };
    expect(htmlOf(html, variables)).toBe(printed);
  });

  it.each([
    ['{{uppercase name}} {{lowercase name}}', 'STRAßE ÄÖ'.toUpperCase() + ' straße äö'],
    [
      '{{truncate name 3}} {{truncate name 3 ""}} {{truncate name 99}} {{truncate emoji 1}}',
      'Str… Str Straße Äö 👩…',
    ],
    ['{{truncate name 0}} {{truncate name -1}} {{truncate name missing}}', '… Straße Äö Straße Äö'],
    [
      '{{truncate "ab🇩🇪c" 3}} {{truncate "cafe\u0301s" 4}} {{truncate "Hi 👩\u200d💻!" 4}} {{truncate "ab👍🏽" 4}} {{truncate "ab🇩🇪🇫🇷" 4}}',
      'ab… caf… Hi … ab👍🏽 ab🇩🇪…',
    ],
    ['{{join list}} {{join list " + "}} {{join name}}', '1, 2 1 + 2 Straße Äö'],
    ['{{urlEncode query}}', 'a%26b%20c'],
    [
      '{{number total}} {{number total decimals=2 locale="de-DE"}} {{number text}} {{number name}}',
      '1,234.5 1.234,50 7 Straße Äö',
    ],
    [
      '{{currency total "EUR"}} {{currency total "EUR" locale="de-DE"}} {{currency total "JPY"}}',
      '€1,234.50 1.234,50\u00a0€ ¥1,235',
    ],
    [
      '{{currency total "EUR" locale="fr-FR"}} {{number total locale="fr-FR"}}',
      '1\u00a0234,50\u00a0€ 1\u00a0234,5',
    ],
    [
      '{{number total locale="de_DE"}} {{currency total "EUR" locale=german}} {{date at locale=german}}',
      '1.234,5 1.234,50\u00a0€ 01.05.2026',
    ],
    [
      '{{date at}} {{date at "long" time="short" timeZone="Europe/Berlin" locale="de-DE"}}',
      'May 1, 2026 2. Mai 2026 um 00:30',
    ],
    [
      '{{date at "iso"}} {{date at "iso" time="short"}} {{date day "full"}}',
      '2026-05-01 2026-05-01 22:30 Friday, May 1, 2026',
    ],
    [
      '{{date day timeZone="America/New_York"}} {{date day timeZone="Pacific/Kiritimati"}} {{date "2026-05-01T00:00Z" timeZone="America/New_York"}}',
      'May 1, 2026 May 1, 2026 Apr 30, 2026',
    ],
    [
      '{{date seconds "iso"}} {{date milliseconds "iso"}} {{date at "short" time="short"}}',
      '2026-05-01 2026-05-01 5/1/26, 10:30 PM',
    ],
    [
      '{{date "2026-05-01 22:30:00+00" "iso" time="short"}} {{date "2026-05-01 22:30:00.123456-05" "iso" time="short"}}',
      '2026-05-01 22:30 2026-05-02 03:30',
    ],
    [
      '{{date "2026-02-29"}} {{date "2026-04-31T10:00Z"}} {{date "2024-02-29"}}',
      '2026-02-29 2026-04-31T10:00Z Feb 29, 2024',
    ],
    [
      '{{date name}} {{date missing}} {{date list}} {{currency name "EUR"}} {{number at locale=name}}',
      'Straße Äö  1,2 Straße Äö 2026-05-01T22:30:00Z',
    ],
    [
      '{{default nothing "x"}} {{default blank "x"}} {{default zero "x"}} {{default missing blank name}}',
      'x x 0 Straße Äö',
    ],
    [
      '{{#if (eq total 1234.5)}}a{{/if}}{{#if (eq text 7)}}b{{/if}}{{#if (ne text 7)}}c{{/if}}{{eq missing null}}',
      'abfalse',
    ],
    [
      '{{gt total 5}} {{gte text "7"}} {{lt "a" "b"}} {{lte name 5}} {{lt text 10}}',
      'true true true false true',
    ],
    [
      '{{gt 5 5}} {{gt 6 5}} {{gte 5 5}} {{gte 4 5}} {{lt 5 5}} {{lt 6 5}} {{lte 5 5}} {{lte 6 5}}',
      'false true true false false false true false',
    ],
    ['{{#if (and total empty)}}a{{/if}}{{#if (or empty total)}}b{{/if}}', 'b'],
    [
      '{{#and total name}}a{{else}}b{{/and}}{{#if (or missing empty)}}c{{/if}}{{#if (not empty)}}d{{/if}}',
      'ad',
    ],
  ])('S3: the helpers return what they document: %s', (html, printed) => {
    const variables = {
      name: 'Straße Äö',
      emoji: '👩👩',
      query: 'a&b c',
      list: [1, 2],
      empty: [],
      nothing: null,
      blank: '',
      zero: 0,
      total: 1234.5,
      text: '7',
      at: '2026-05-01T22:30:00Z',
      day: '2026-05-01',
      seconds: 1_777_635_000,
      milliseconds: 1_777_635_000_000,
      german: 'de_DE',
    };
    expect(htmlOf(html, variables)).toBe(printed);
  });

  it('S2: uses a default where the call has no value', () => {
    expect(htmlOf('{{a}} {{u.x}} {{u.y}}', { u: { y: 2 } }, { a: 1, u: { x: 1, y: 1 } })).toBe('1 1 2');
  });

  it('S3: the output of helpers is always escaped', () => {
    expect(
      htmlOf('{{join a}}{{uppercase b}}{{default c b}}{{lookup d "e"}}', { a: ['<'], b: '<', d: { e: '<' } }),
    ).toBe('&lt;&lt;&lt;&lt;');
  });

  it.each([
    [
      'nested loops that print',
      '{{#each @root.l}}{{#each @root.l}}{{#each @root.l}}{{this}}{{/each}}{{/each}}{{/each}}',
    ],
    [
      'nested loops that print nothing',
      '{{#each @root.l}}{{#each @root.l}}{{#each @root.l}}{{/each}}{{/each}}{{/each}}',
    ],
    ['loops over a long content', `{{#each l}}${'x'.repeat(10_000)}{{/each}}`],
    ['sections', '{{#l}}{{#@root.l}}{{#@root.l}}{{.}}{{/@root.l}}{{/@root.l}}{{/l}}'],
    ['a long text many times', '{{{t}}}'.repeat(100)],
    ['a list joined by a long text', '{{join l t}}'],
    ['a list joined by what was joined', '{{join l (join l (join l "----------"))}}'],
  ])('S3: fails when the output becomes too large by %s', (_what, html) => {
    const variables = { l: Array.from({ length: 1_000 }, (_, n) => n), t: '<'.repeat(200_000) };
    expect(() => htmlOf(html, variables)).toThrow(OutputTooLarge);
  });

  it('S3: does not copy what has become too large', () => {
    const html = `{{#each l}}${'語'.repeat(1_000)}{{/each}}`.repeat(90);
    const before = process.memoryUsage.rss();
    expect(() => htmlOf(html, { l: Array.from({ length: 5_200 }, () => 0) })).toThrow(OutputTooLarge);
    // The copy would take 900 MB.
    expect((process.memoryUsage.rss() - before) / 1_048_576).toBeLessThan(300);
  });

  it('G11: refuses subjects and contents that become too large, and truncates preview texts', () => {
    expect(() => render({ subject: '{{a}}' }, { a: 'x'.repeat(999) })).toThrow(OutputTooLarge);
    expect(render({ subject: '{{a}}' }, { a: 'é'.repeat(998) }).subject).toHaveLength(998);
    expect(render({ previewText: '{{a}}' }, { a: '👩'.repeat(1_001) }).previewText).toBe('👩'.repeat(1_000));
    expect(() => htmlOf(`${'é'.repeat(2_500_000)}{{a}}`, { a: 'é'.repeat(200_000) })).toThrow(OutputTooLarge);
  });

  it('keeps the most recently used versions', () => {
    const templates = new CompiledTemplates();
    const source = (n: number) => ({
      id: `kept${n}`,
      parts: { subject: '', html: `{{a}}${n}` },
      defaults: {},
    });
    for (let n = 0; n < 500; n += 1) expect(templates.render(source(n), { a: 'x' }).html).toBe(`x${n}`);
    expect(templates.render(source(0), { a: 'x' }).html).toBe('x0');
  });
});
