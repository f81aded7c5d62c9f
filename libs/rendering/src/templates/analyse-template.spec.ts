import { describe, expect, it } from '@jest/globals';
import { analyseTemplate } from './analyse-template.ts';

const analyse = (html: string) => analyseTemplate({ subject: 'Hi', html });
const printedBy = (html: string): readonly string[] => {
  const analysis = analyse(html);
  if ('faults' in analysis) throw new Error(analysis.faults.join('; '));
  return analysis.printed;
};
const faultsOf = (html: string): readonly string[] => {
  const analysis = analyse(html);
  return 'faults' in analysis ? analysis.faults : [];
};

describe('analyseTemplate', () => {
  it.each([
    ['{{name}} {{{name}}} {{&name}} {{this.name}} {{@root.name}} {{./name}}', ['name']],
    ['{{user.name}} {{user/name}} {{user.[first name]}}', ['user.name', 'user.[first name]']],
    ['{{"odd name"}} {{[odd name]}} {{12}} {{items.[0]}}', ['[odd name]', '12', 'items.0']],
    [
      '{{uppercase name}} {{number (lookup prices plan) decimals=digits}}',
      ['name', 'prices', 'plan', 'digits'],
    ],
    [
      '{{#each items}}{{name}} {{this}} {{@index}} {{@root.total}} {{../currency}}{{/each}}',
      ['total', 'currency'],
    ],
    ['{{#each items as |item|}}{{item.name}} {{item}}{{/each}}{{item}}', ['item']],
    ['{{#with user}}{{name}} {{../sender}}{{/with}}', ['sender']],
    ['{{#with user as |u|}}{{u}} {{./u}} {{../u}}{{/with}}', ['u']],
    ['{{this}} {{@root}} {{#each items}}{{this}} {{@key.name}}{{/each}}', []],
    ['{{#unless name}}{{name}}{{/unless}}{{#if city}}x{{else}}{{city}}{{/if}}', ['name', 'city']],
    ['{{#if (or name city)}}{{name}}{{/if}}{{#if 1}}{{city}}{{/if}}', ['name', 'city']],
    ['{{#items}}{{name}}{{/items}}{{^items}}{{nothing}}{{/items}}', ['nothing']],
    [
      '{{#if vip}}{{discount}}{{else if trial}}{{days}}{{else}}{{price}}{{/if}}',
      ['discount', 'days', 'price'],
    ],
    ['{{#each items}}{{#if on}}{{../total}}{{/if}}{{/each}}', ['total']],
    ['{{! {{note}} }}{{!-- {{note}} --}}\\{{shown}}', []],
  ])('S2: a variable in an output tag is required: %s', (html, printed) => {
    expect(printedBy(html)).toEqual(printed);
  });

  it.each([
    '{{#if a}}x{{/if}}{{#unless b}}x{{/unless}}{{#each c}}x{{/each}}{{#with d}}x{{/with}}{{#e}}x{{/e}}',
    '{{#if (eq plan "pro")}}x{{/if}}{{#gt total 100}}x{{else}}y{{/gt}}{{eq a b}}',
    '{{default name "friend"}} {{default nickname name}}',
    '{{uppercase (default name "friend")}}',
  ])('S2: a variable that is only tested is optional: %s', (html) => {
    expect(printedBy(html)).toEqual([]);
  });

  it.each([
    '{{#if name}}Hi {{name}}{{else}}Hi there{{/if}}',
    '{{#unless name}}Hi there{{else}}Hi {{name}}{{/unless}}',
    '{{#if (and name city)}}{{name}} of {{city}}{{/if}}',
    '{{#if user}}{{user.name}}{{/if}}',
    '{{#with user}}{{@root.user.name}}{{../user.name}}{{/with}}',
  ])('S2: a variable is optional inside of a block that tests it: %s', (html) => {
    expect(printedBy(html)).toEqual([]);
  });

  it('S3: a name without arguments is a variable, even if a helper has that name', () => {
    expect(printedBy('{{date}} {{number}} {{default}} {{#join}}{{/join}}')).toEqual([
      'date',
      'number',
      'default',
    ]);
  });

  it.each([
    ['{{> header}}', 'line 1, column 1: partials'],
    ['{{#> layout}}{{/layout}}', 'partials'],
    ['{{* setup}}', 'decorators'],
    ['{{#*inline "x"}}{{/inline}}', 'decorators'],
    ['a\nb {{shout name}}', 'line 2, column 3: there is no helper `shout`; there are uppercase,'],
    ['{{formatDate day "YYYY"}}', 'write `{{date when "long"}}`'],
    ['{{#equals a b}}{{/equals}}', 'write `(eq a b)`'],
    ['{{log secret}}', 'there is no helper `log`'],
    ['{{[@print] name}}', 'there is no helper `@print`'],
    ['{{user.name first}}', 'there is no helper `user.name`'],
    ['{{helperMissing a}}', 'there is no helper'],
    ['{{constructor a}}', 'there is no helper'],
    [
      '{{#if a}}\n{{#each b}}',
      'line 2, column 1: the block `{{#each}}` is never closed; close it with `{{/each}}`',
    ],
    ['{{#if a}}x{{/each}}', 'the block `{{#if}}` is closed by `{{/each}}`'],
    ['{{/if}}', 'a block is closed that is not open'],
    ['{{else}}', 'outside of a block'],
    ['{{name', 'a tag is opened here or before and never closed'],
    ['{{"name}}', 'a character stands here'],
    ['{{}}', 'the tag ends too early'],
    ['{{items.0}}', 'line 1, column 9: behind a dot stands a name;'],
    ['{{items[0].name}}', 'into brackets: `{{[odd name]}}`, `{{items.[0]}}`'],
    ['{{#if a == b}}x{{/if}}', '`{{#if (eq a b)}}`'],
    ['{{#if a > b}}x{{/if}}', '`{{#if (gt a b)}}`'],
    ['{{name | upper}}', 'there are no filters and no operators; write a helper: `{{uppercase name}}`'],
    ['{{name || "you"}}', '`{{default name "friend"}}`'],
    [
      '{{default name “friend”}}',
      'line 1, column 16: `“friend”` begins with a typographic quote; write straight ones, as in `"friend"`',
    ],
    ['{{#if (eq plan ‘pro’)}}x{{/if}}', '`‘pro’` begins with a typographic quote'],
    ['{{date a „long“}}', '`„long“` begins with a typographic quote'],
    ['{{default name « ami »}}', '`«` begins with a typographic quote'],
    ['{{“name”}}', '`“name”` begins with a typographic quote'],
    [
      '<p>\n<a href="https://x.example/?t=%7B%7Btoken%7D%7D">x</a>',
      'line 2, column 31: `%7B%7Btoken%7D%7D` is a tag whose braces are percent-encoded, as programs that inline CSS do in links; write `{{` and `}}`',
    ],
    ['<img src="%7b%7b%20logo%20%7d%7d">', 'line 1, column 11: `%7b%7b%20logo%20%7d%7d` is a tag'],
    ['{{#if a}}x{{elseif b}}y{{/if}}', 'write `{{else if a}}`'],
    ['{{#foreach items}}x{{/foreach}}', 'write `{{#each list}}…{{/each}}`'],
    ['{{a.this}}', '`a.this` is not a path'],
    ['{{#if}}x{{/if}}', '`if` needs what it is about'],
    ['{{#if a b}}x{{/if}}', 'exactly one argument, not 2'],
    ['{{#each a limit=3}}x{{/each}}', '`each` has no option `limit`'],
    ['{{if a}}', 'write `{{#if …}}…{{/if}}`'],
    ['{{#uppercase a}}x{{/uppercase}}', 'opens no block; write `{{uppercase text}}`'],
    ['{{#if a as |b|}}x{{/if}}', 'only `each` and `with` can name their items'],
    ['{{currency a}}', '`currency` takes 2 arguments, not 1'],
    ['{{currency a "EURO"}}', 'argument 2 of `currency` must be a currency'],
    ['{{number a decimals=99}}', '`decimals` of `number` must be a whole number from 0 to 10'],
    ['{{date a "YYYY"}}', 'argument 2 of `date` must be one of short, medium, long, full, iso'],
    ['{{date a timeZone="Mars"}}', '`timeZone` of `date` must be a time zone'],
    ['{{uppercase a b=1}}', '`uppercase` has no option `b`'],
    ['{{@user}}', '`@user` is not known'],
    ['{{../name}}', '`../name` climbs above all variables'],
    ['{{#if a}}{{../name}}{{/if}}', 'climbs above all variables'],
    [`{{${'a'.repeat(256)}}}`, 'is longer than 255 characters'],
    ['{{{{raw}}}}{{x}}{{{{/raw}}}}', 'raw blocks'],
    ['{{a}}'.repeat(2_001), 'has 2001 tags, more than the 2000 allowed'],
    ['{{#if a}}'.repeat(200) + '{{/if}}'.repeat(200), 'more than 100 deep'],
    [Array.from({ length: 1_001 }, (_, n) => `{{v${n}}}`).join(''), 'prints 1001 variables'],
  ])('S3: refuses %.60s and says where the fault is and how to fix it', (html, fault) => {
    expect(faultsOf(html).join('; ')).toContain(fault);
  });

  it('takes an apostrophe of either form inside of a name in brackets', () => {
    expect(printedBy('{{[l’adresse]}}')).toEqual(['[l’adresse]']);
  });

  it('takes percent-encoded braces that enclose no tag, and any outside of the HTML', () => {
    const text = '%7B%7Btoken%7D%7D';
    expect(analyseTemplate({ subject: 'x', html: '<a href="?a=%7B%7B">x</a> %7D%7D', text })).toEqual({
      printed: [],
    });
  });

  it('names the part of the template, and at most five faults', () => {
    const html = '{{> a}}'.repeat(8);
    const analysis = analyseTemplate({ subject: '{{#if}}', html: 'x', text: html, previewText: '{{../a}}' });
    expect('faults' in analysis && analysis.faults).toEqual([
      expect.stringContaining('`subject`, line 1, column 1: '),
      expect.stringContaining('`text`, line 1, column 1: '),
      expect.stringContaining('`text`, line 1, column 8: '),
      expect.stringContaining('`text`, line 1, column 15: '),
      expect.stringContaining('`text`, line 1, column 22: '),
      'and 5 more faults',
    ]);
  });
});
