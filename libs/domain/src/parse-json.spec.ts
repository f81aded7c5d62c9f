import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from './parse-json.ts';

describe('parseJson', () => {
  it('reads each key as written, whatever the engine has parsed before', () => {
    for (const key of ['\\', '\\u00', 'k\\', '"', '\n']) parseJson(JSON.stringify({ x: { [key]: 1 } }));
    expect(parseJson('{"x":{"\\u00e9":1}}')).toEqual({ x: { é: 1 } });
    expect(parseJson('{"x" : "\\n", "\\u0066rom" : [ ] , "k\\"": {} }')).toEqual({
      'x': '\n',
      'from': [],
      'k"': {},
    });
  });

  it('parses everything that JSON.stringify writes', () => {
    const key = fc.oneof(fc.constantFrom('a', '"', '\\', '":', '\\u0061', 'é\n'), fc.string());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.oneof(key, fc.boolean(), fc.constant(null), fc.integer()),
        fc.array(tie('value')),
        fc.dictionary(key, tie('value'), { noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom('', ' ', '\n\t'), (json, indent) => {
        expect(parseJson(JSON.stringify(json, null, indent))).toEqual(json);
      }),
    );
  });

  it.each(['{"\\":1}', '{"a\\"', '"\\', '{"\\u0061":}', ''])('refuses %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
