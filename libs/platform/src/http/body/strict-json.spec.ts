import { describe, expect, it } from '@jest/globals';
import { SIZES } from '@posthorn/domain';
import { Refusal } from '@posthorn/kernel';
import fc from 'fast-check';
import {
  MAX_JSON_DEPTH,
  MAX_JSON_KEYS,
  MAX_JSON_VALUES,
  parseStrictJson,
  strictFaultOf,
} from './strict-json.ts';

function faultOf(text: string): string | undefined {
  try {
    parseStrictJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal && error.statusCode === 400) return error.message;
    throw error;
  }
}

function parserTakes(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('the items of a batch', () => {
  const faultsIn = (text: string): (string | undefined)[] =>
    (parseStrictJson(text, 'items') as { items: unknown[] }).items.map(
      (item) => strictFaultOf(item)?.message,
    );

  it('are validated separately: each gets its errors as if it were alone', () => {
    const items = [
      '{"a":1}',
      '{"a":{"b":["x\\u0000"]},"c":"\\ud83d"}',
      '{"\\udc00":1}',
      '{"__proto__":{}}',
      '{"a":1e999,"b":"\\u0000"}',
      '{"a":9007199254740992}',
      '[["\\u0000"]]',
      '{"a":{"items":[{"b":"\\u0000"}]}}',
      '{"a":"\\ud83d\\ude00"}',
    ];
    expect(faultsIn(`{"items":[${items.join(',')}],"more":[{"a":"x"}]}`)).toEqual([
      undefined,
      '`a.b[0]` has the character U+0000; remove it; `c` has half of a surrogate pair (U+D800 to U+DFFF); send both or none',
      'The body has half of a surrogate pair (U+D800 to U+DFFF); send both or none',
      'The body has the key `__proto__`; remove it',
      '`a` is a number too large to hold exactly; send it as text; `b` has the character U+0000; remove it',
      '`a` is a number too large to hold exactly; send it as text',
      '`[0][0]` has the character U+0000; remove it',
      '`a.items[0].b` has the character U+0000; remove it',
      undefined,
    ]);
    expect(faultsIn('{"items":["\\u0000",1e999,null]}')).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['{"items":[{"a":1,"a":2}]}', 'The body has the key `a` twice in one object; send it once'],
    ['{"items":[{"b":"\\u0000","a":1,"a":2}]}', 'The body has the key `a` twice in one object; send it once'],
    ['{"items":[{}],"items":[{}]}', 'The body has the key `items` twice in one object; send it once'],
    [`{"items":[${nested(MAX_JSON_DEPTH)}]}`, 'The body is nested more than 64 levels deep; flatten it'],
    ['{"items":[{}],"more":"\\u0000"}', '`more` has the character U+0000; remove it'],
    ['{"more":[{"items":["\\u0000"]}]}', '`more[0].items[0]` has the character U+0000; remove it'],
    ['{"items":{"a":["\\u0000"]}}', '`items.a[0]` has the character U+0000; remove it'],
    ['{"items":[{}],"\\u0000":1}', 'The body has the character U+0000; remove it'],
  ])(
    'are refused as a whole when two parsers could take them apart differently, or when what is wrong is beside them: %#',
    (text, message) => {
      expect(() => parseStrictJson(text, 'items')).toThrow(message);
    },
  );
});

describe('parseStrictJson', () => {
  it.each([
    ['{"a":1,"a":2}', 'The body has the key `a` twice in one object; send it once'],
    ['{"a":1,"\\u0061":2}', 'The body has the key `a` twice in one object; send it once'],
    ['[{"x":{"b":":,{","c":1,"b":2}}]', 'The body has the key `b` twice in one object; send it once'],
    ['{"__proto__":{}}', 'The body has the key `__proto__`; remove it'],
    ['{"a":[{"\\u005f_proto__":1}]}', '`a[0]` has the key `__proto__`; remove it'],
    ['{"a":{"b":"x\\u0000"}}', '`a.b` has the character U+0000; remove it'],
    ['{"a\\u0000":1}', 'The body has the character U+0000; remove it'],
    ['{"a":"\\ud83d"}', '`a` has half of a surrogate pair (U+D800 to U+DFFF); send both or none'],
    ['{"a":"\\ude00\\ud83d"}', '`a` has half of a surrogate pair (U+D800 to U+DFFF); send both or none'],
    [
      '{"a":["\\ud83d\\ude00\\ud83d"]}',
      '`a[0]` has half of a surrogate pair (U+D800 to U+DFFF); send both or none',
    ],
    [
      `{"${'k'.repeat(99)}😀":1,"${'k'.repeat(99)}😀":2}`,
      `The body has the key \`${'k'.repeat(99)}\` twice in one object; send it once`,
    ],
    ['{"a":{"\\udc00":1}}', '`a` has half of a surrogate pair (U+D800 to U+DFFF); send both or none'],
    ['{"a":1e999}', '`a` is a number too large to hold exactly; send it as text'],
    ['{"a":[9007199254740993]}', '`a[0]` is a number too large to hold exactly; send it as text'],
    ['{"a":-9007199254740992}', '`a` is a number too large to hold exactly; send it as text'],
    [
      '{"a":{"order":12345678901234567890,"user":1e17},"b":"\\u0000"}',
      '`a.order` is a number too large to hold exactly; send it as text; `a.user` is a number too large to hold exactly; send it as text; ' +
        '`b` has the character U+0000; remove it',
    ],
    [
      `[${Array(12).fill('"\\u0000"').join()}]`,
      Array.from({ length: 10 }, (_, at) => `\`[${at}]\` has the character U+0000; remove it`).join('; '),
    ],
    [nested(MAX_JSON_DEPTH + 1), 'The body is nested more than 64 levels deep; flatten it'],
    ['['.repeat(1_000_000), 'The body is nested more than 64 levels deep; flatten it'],
    ['{"a":', 'The body is not valid JSON: it ends too early'],
    ['{"a":1 "b":2}', 'The body is not valid JSON: look at line 1, column 8'],
    ['{"a', 'The body is not valid JSON: look at line 1, column 4'],
    ['', 'The body is not valid JSON: it ends too early'],
    ['{a:1}', 'The body is not valid JSON: look at line 1, column 2'],
    ['secret', 'The body is not valid JSON: look at line 1, column 1'],
    ['{"a":NaN}', 'The body is not valid JSON: look at line 1, column 6'],
    ['{\r\n "a": "x:,[",\n "b": [1, -Infinity]}', 'The body is not valid JSON: look at line 3, column 12'],
    ['{"a": [true, 1.5e-3, null],\n"b": Infinity}', 'The body is not valid JSON: look at line 2, column 6'],
    ['{"a":"\\"\u00e9","b":None}', 'The body is not valid JSON: look at line 1, column 16'],
    ['{"a": \'b\'}', 'The body is not valid JSON: look at line 1, column 7'],
    ['{"a":[1,]}', 'The body is not valid JSON: look at line 1, column 9'],
    ['{"a":{},"b":}', 'The body is not valid JSON: look at line 1, column 13'],
    ['[[],+1]', 'The body is not valid JSON: look at line 1, column 5'],
    ['[nulL]', 'The body is not valid JSON: look at line 1, column 2'],
  ])('refuses example %#', (text, message) => {
    expect(faultOf(text)).toBe(message);
  });

  it.each([
    ['{"a":"\\ud83d\\ude00 \\\\u0000 \\"","b":{"a":1},"c":[{"a":1},{"a":2}]}'],
    ['{"constructor":1,"toString":2,"proto":3}'],
    [nested(MAX_JSON_DEPTH)],
    [' \t\r\n{ "a" : [ ] , "b" : "\\\\" } '],
    ['"\\\\\\""'],
    ['-0.5e-3'],
    ['[9007199254740991, -9007199254740991, 1e-400, 0.1234567890123456789]'],
    ['null'],
  ])('parses example %# as JSON.parse does', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  it('parses every JSON value that contains nothing refused', () => {
    const key = fc
      .string({ unit: 'grapheme' })
      .filter((text) => text !== '__proto__' && !text.includes('\0'));
    const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.oneof(
          text,
          fc.boolean(),
          fc.constant(null),
          fc
            .double({ noNaN: true, min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
            .map((number) => number + 0),
        ),
        fc.array(tie('value')),
        fc.dictionary(key, tie('value'), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom('', ' ', '\n\t'), (json, indent) => {
        const serialised = JSON.stringify(json, null, indent);
        expect(parseStrictJson(serialised)).toEqual(json);
      }),
    );
  });

  it('refuses whatever JSON.parse refuses, and names a reason for what only it refuses', () => {
    const token = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ':',
        ',',
        '"a"',
        '"b"',
        '"a\\"',
        '"\\\\"',
        '"\\u0000"',
        '"\\u0061"',
        '"\\ud800"',
      ],
      ...['"__proto__"', '1', '1e999', 'true', 'null', ' ', '\n', '"', '\\', 'NaN', "'", '-', 'nul'],
    );
    const text = fc.oneof(
      fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join('')),
      fc
        .array(fc.tuple(token, token), { maxLength: 4 })
        .map((members) => `{${members.map((m) => m.join(':')).join()}}`),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        const fault = faultOf(candidate);
        if (!parserTakes(candidate))
          expect(fault).toMatch(
            /^The body is not valid JSON: (it ends too early|look at line \d+, column \d+)$/,
          );
        else if (fault !== undefined) expect(fault).toMatch(/twice|__proto__|U\+0000|surrogate|too large/);
      }),
      { numRuns: 3_000 },
    );
  });

  it('keeps each key as it was written, whatever was parsed before', () => {
    const others = ['\\', '\\u00', 'k\\'].map((key) => JSON.stringify({ x: { [key]: 1 } }));
    for (const other of [...others, ...others]) parseStrictJson(other);
    expect(parseStrictJson('{"x":{"\\u00e9":1}}')).toEqual({ x: { é: 1 } });
    expect(parseStrictJson('{"x":{"\\u0066rom":[ ] , "k\\"": {} }}')).toEqual({
      x: { 'from': [], 'k"': {} },
    });
    expect(parseStrictJson('{"x":{"\\"":true,"b":[1,"]",null]}}')).toEqual({
      x: { '"': true, 'b': [1, ']', null] },
    });
  });

  it.each([
    ['colons without keys', (n: number) => `{"${'a'.repeat(n)}"${':'.repeat(n)}"\\\\"`],
    ['backslashes', (n: number) => `{"${'\\'.repeat(n)}":"${'\\"'.repeat(n)}`],
    ['quotes', (n: number) => `{${'"'.repeat(n)}:"\\\\"`],
    ['lines and values before no value', (n: number) => `[${'1,\n'.repeat(n / 4)}NaN]`],
  ])('takes time in proportion to the text, also of %s', (_what, textOf) => {
    const text = textOf(1_000_000);
    const before = process.threadCpuUsage();
    expect(faultOf(text)).toContain('not valid JSON');
    // This took half a minute when each colon searched back to the last string.
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });

  it.each([
    ['numbers', '0,'],
    ['strings', '"],[",'],
    ['objects', '{},'],
  ])('refuses too many values before they exhaust the memory: %s', (_what, piece) => {
    const each = piece.includes('{') ? 2 : 1;
    const textOf = (values: number): string =>
      `[${piece.repeat(Math.floor((values - 1) / each))}${piece.slice(0, -1)}]`;
    const refusal = 'The body has more than 500,000 values; spread them over several requests';
    expect(faultOf(textOf(MAX_JSON_VALUES - 1))).not.toBe(refusal);
    expect(faultOf(textOf(MAX_JSON_VALUES + 2))).toBe(refusal);
  });

  const objectOf = (keys: number): string =>
    `{${Array.from({ length: keys }, (_, at) => `"k${at}":0`).join()}}`;

  it('refuses more keys than anybody needs, each of which takes as long as many values', () => {
    const refusal = 'The body has more than 50,000 keys; spread them over several requests';
    expect(faultOf(objectOf(MAX_JSON_KEYS.ofBody))).toBeUndefined();
    expect(faultOf(objectOf(MAX_JSON_KEYS.ofBody + 1))).toBe(refusal);
    expect(faultOf(`[${'{"a":0},'.repeat(MAX_JSON_KEYS.ofBody)}{"a":0}]`)).toBe(refusal);
  });

  it('takes more keys in a batch, since each of its items may have many', () => {
    const batchOf = (keys: number): string => `{"items":[{"a":0},${objectOf(keys - 2)}]}`;
    const refusal = 'The body has more than 250,000 keys; spread them over several requests';
    expect(parseStrictJson(batchOf(MAX_JSON_KEYS.ofBatch), 'items')).toBeDefined();
    expect(() => parseStrictJson(batchOf(MAX_JSON_KEYS.ofBatch + 1), 'items')).toThrow(refusal);
  });

  it('takes `variables` as large as they may be, however short their keys', () => {
    const members = Array.from({ length: 100_000 }, (_, at) => `"${at.toString(36)}":0`);
    while (members.join().length > SIZES.variables.max - 2)
      members.length = Math.floor(members.length * 0.99);
    expect(faultOf(`{"variables":{${members.join()}}}`)).toBeUndefined();
    const objects = Array<string>(Math.floor(SIZES.variables.max / '{"":0},'.length)).fill('{"":0}');
    expect(faultOf(`{"variables":{"a":[${objects.join()}]}}`)).toBeUndefined();
  });

  it.each(['0', '[]', '{}', '""', '[[]]'])(
    'takes `variables` as large as they may be, whatever they hold: %s',
    (item) => {
      const items = Array<string>(Math.floor(SIZES.variables.max / (item.length + 1)) - 1).fill(item);
      expect(faultOf(`{"variables":[${items.join()}]}`)).toBeUndefined();
    },
  );

  it('finds every duplicate key at any position', () => {
    const value = fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer()), fc.constant({ a: { b: 1 } }));
    const key = fc.constantFrom('a', 'b', '"', '\\', ':', '{', 'é');
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { maxLength: 6 }), (members) => {
        const text = members
          .map(([name, item]) => `${JSON.stringify(name)}:${JSON.stringify(item)}`)
          .join(',');
        const isDoubled = new Set(members.map(([name]) => name)).size < members.length;
        if (isDoubled) expect(faultOf(`[{"x":{${text}}}]`)).toContain('twice');
        else expect(parseStrictJson(`[{"x":{${text}}}]`)).toEqual([{ x: Object.fromEntries(members) }]);
      }),
    );
  });
});
