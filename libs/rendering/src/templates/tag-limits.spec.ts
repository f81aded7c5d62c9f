import { describe, expect, it } from '@jest/globals';
import { analyseTemplate } from './analyse-template.ts';
import { faultInTags } from './tag-limits.ts';

const times = (count: number, text: string): string => text.repeat(count);
const nested = (count: number): string => `${times(count, '(default ')}a${times(count, ' b)')}`;
/** As the whole judgement has it, parser and walk included. */
const faultsOf = (html: string): readonly string[] => {
  const analysis = analyseTemplate({ subject: 'Hi', html });
  return 'faults' in analysis ? analysis.faults : [];
};

describe('faultInTags', () => {
  it.each([
    ['parentheses', `{{uppercase ${nested(4_000)}}}`, '`html`, line 1, column 913'],
    ['parentheses that are never closed', `\n{{#if ${times(20_000, '(a ')}`, '`html`, line 2, column 307'],
    ['a quote only a backslash ends', `{{eq "\\" ${times(2_000, '(a ')}}}`, '`html`, line 1, column 310'],
    ['blocks around many words', `${times(1_900, '{{#if a}}')}{{eq ${times(40_000, 'a ')}}}`, 'column 901'],
    ['a chain', `{{#if a}}${times(1_900, '{{else if a}}')}{{eq ${times(40_000, 'a ')}}}`, 'column 1297'],
  ])('S3: refuses at once what stands too deep: %s', (_, html, place) => {
    const begun = performance.now();
    const faults = faultsOf(html);
    // The parser alone takes from ten seconds to minutes for these.
    expect(performance.now() - begun).toBeLessThan(3_000);
    expect(faults).toEqual([expect.stringContaining('stand more than 100 deep in each other here')]);
    expect(faults[0]).toContain(place);
  });

  it('S3: refuses at once more than 100,000 characters in tags, whatever else there is', () => {
    const html = `{{default a "${times(50_000, 'long')}"}}{{eq ${times(1_000_000, 'a ')}}}`;
    const begun = performance.now();
    expect(faultsOf(html)).toEqual([
      '`html`, line 1, column 1: has 2000014 characters in its tags, not counting comments and texts in quotes, more than the 100000 that are possible; make it simpler',
    ]);
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  it.each([
    ['100 blocks', `${times(100, '{{#if a}}')}${times(100, '{{/if}}')}`],
    ['100 parentheses', `{{uppercase ${nested(99)}}}`],
    ['a chain of 100', `{{#if a}}${times(99, '{{else if a}}')}{{else}}x{{/if}}`],
    ['chains side by side', times(150, '{{#if a}}x{{else if b}}y{{^}}z{{/if}}')],
    ['inverse blocks side by side', times(150, '{{^a}}x{{~else~}}y{{/a}}')],
    ['parentheses side by side', times(150, '{{uppercase (default a (default b c))}}')],
    ['parentheses in quotes', `{{default a "${times(200, '(')}"}}{{default a '\\'${times(200, '(')}'}}`],
    ['parentheses in a name', `{{[${times(200, '(')}]}}`],
    ['comments', `{{! ${times(200, '(')}}}{{!-- ${times(200, '{{#if a}}')} --}}{{~!-- }} (( --~}}`],
    ['what is shown as it is', times(200, '\\{{#if a}} ')],
    ['a long text and a long comment', `{{default a "${times(200_000, 'x')}"}}{{! ${times(200_000, 'x')}}}`],
    ['what stands between the tags', times(200_000, '( { } )')],
  ])('S3: lets everything pass that is in the language: %s', (_, html) => {
    expect(faultInTags(html)).toBeUndefined();
    expect(faultsOf(html)).toEqual([]);
  });

  it.each([
    [`<p>{{name</p>${times(50_000, '<p>text</p>')}`, 'a tag is opened here or before and never closed'],
    [`<p>{{name</p>${times(50_000, '<p>text</p>')}{{a}}`, 'a character stands here'],
    [`{{name ${times(50_000, '{{ a }} ')}`, 'has 50001 tags'],
    [times(200, '{{/if}}'), 'a block is closed that is not open'],
    [times(200, '{{else if a}}'), 'outside of a block'],
  ])('S3: leaves to the parser what it says better: %.20s', (html, fault) => {
    expect(faultsOf(html)).toEqual([expect.stringContaining(fault)]);
  });
});
