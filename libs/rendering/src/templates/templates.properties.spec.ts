import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { analyseTemplate } from './analyse-template.ts';
import { CompiledTemplates } from './compiled-templates.ts';
import { OutputTooLarge } from './output.ts';

const PIECE = fc.constantFrom(
  ...[
    '{{',
    '}}',
    '{{{',
    '}}}',
    '{{#',
    '{{/',
    '{{^',
    '{{else}}',
    '{{!',
    '{{>',
    '{{*',
    '{{~',
    '~}}',
    '{{&',
    '\\',
    '\n',
    ' ',
  ],
  ...[
    'if',
    'each',
    'with',
    'unless',
    'a',
    'b.c',
    '../',
    '@root',
    '@index',
    'this',
    '.',
    '[x y]',
    '"t"',
    '1',
    '(',
    ')',
    '=',
  ],
  ...[
    'eq',
    'join',
    'date',
    'lookup',
    'default',
    'constructor',
    '__proto__',
    'as |x|',
    'toString',
    '<b>',
    '&',
  ],
);
const TAG = fc.constantFrom(
  ...[
    '{{a}}',
    '{{{a}}}',
    '{{b.c}}',
    '{{constructor}}',
    '{{__proto__}}',
    '{{a.constructor}}',
    '{{b.__proto__.c}}',
  ],
  ...[
    '{{#each a}}',
    '{{/each}}',
    '{{#if b}}',
    '{{/if}}',
    '{{#with a}}',
    '{{/with}}',
    '{{#a}}',
    '{{/a}}',
    '{{^b}}',
    '{{/b}}',
  ],
  ...[
    '{{else}}',
    '{{this}}',
    '{{../a}}',
    '{{@root.b}}',
    '{{@key}}',
    '{{lookup a b}}',
    '{{lookup a "constructor"}}',
  ],
  ...[
    '{{join a b}}',
    '{{date a b}}',
    '{{currency a b}}',
    '{{number a locale=b}}',
    '{{truncate a b}}',
    '{{default a b}}',
  ],
  ...[
    '{{eq a b}}',
    '{{#gt a b}}',
    '{{/gt}}',
    '{{urlEncode (lowercase a)}}',
    '{{#each a as |x y|}}',
    '{{x.c}}',
    '{{y}}',
    'text',
  ],
);
const anyTemplate = fc.oneof(
  fc.array(PIECE, { maxLength: 30 }).map((pieces) => pieces.join('')),
  fc.array(TAG, { maxLength: 20 }).map((tags) => tags.join('')),
);
const NAME = fc.constantFrom(
  'a',
  'b',
  'c',
  'constructor',
  'toString',
  'toHTML',
  'valueOf',
  'length',
  'x y',
  'hash',
  'fn',
);
const SCALAR = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constant('<script>'),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, SCALAR, fc.array(tie('value'), { maxLength: 4 }), tie('object')),
  object: fc.dictionary(NAME, tie('value'), { maxKeys: 4 }),
}));
const anyVariables = fc.dictionary(NAME, value, { maxKeys: 6 });

let versions = 0;
const rendered = (html: string, variables: Record<string, unknown>): string => {
  try {
    return new CompiledTemplates().render(
      { id: String((versions += 1)), parts: { subject: '', html }, defaults: {} },
      variables,
    ).html;
  } catch (error) {
    if (error instanceof OutputTooLarge) return '';
    throw error;
  }
};
const isAllowed = (html: string) => !('faults' in analyseTemplate({ subject: '', html }));

describe('the template language', () => {
  it('S3: a template is either refused with a position, or renders with any variables', () => {
    let allowed = 0;
    fc.assert(
      fc.property(anyTemplate, anyVariables, (html, variables) => {
        const analysis = analyseTemplate({ subject: html, html, text: html, previewText: html });
        if ('faults' in analysis) {
          for (const fault of analysis.faults)
            expect(fault).toMatch(/^`(?:subject|html|text|previewText)`, line \d+, column \d+: .|^and /);
          return;
        }
        allowed += 1;
        expect(typeof rendered(html, variables)).toBe('string');
      }),
      { numRuns: 1_000 },
    );
    expect(allowed).toBeGreaterThan(100);
  });

  it('S3: inherited properties of values cannot be reached', () => {
    const inherited = Object.getOwnPropertyNames(Object.prototype).concat(
      Object.getOwnPropertyNames(Array.prototype),
    );
    const paths = inherited.filter((name) => name !== 'length');
    fc.assert(
      fc.property(
        fc.constantFrom(...paths),
        fc.constantFrom('a', 'this', 'b', '@root', 's', 'n'),
        (name, of) => {
          const html = `{{${of}.${name}}}{{${of}.[${name}]}}{{lookup ${of} "${name}"}}{{#with ${of}}}{{${name}}}{{#${name}}}x{{/${name}}}{{/with}}`;
          expect(rendered(html, { a: {}, b: [], s: 'text', n: 1 })).toBe('');
        },
      ),
    );
    expect((Object.prototype as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('S3: the value of a variable never becomes markup except in triple braces', () => {
    const escaping = anyTemplate.filter(
      (html) => !html.includes('{{{') && !html.includes('{{&') && !/[<>&]/.test(html) && isAllowed(html),
    );
    fc.assert(
      fc.property(escaping, anyVariables, (html, variables) => {
        const output = rendered(html, variables);
        expect(output).not.toMatch(/[<>]/);
        expect(output.replace(/&(?:amp|lt|gt|quot|#x27|#x60|#x3D);/g, '')).not.toContain('&');
      }),
      { numRuns: 300 },
    );
  });
});
