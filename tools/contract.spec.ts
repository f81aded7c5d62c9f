import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { ROOT } from './stack/runtime.mjs';

const UNTESTED = 'test/untested-rules.json';
const SPECS = ['apps/*/src/**/*.spec.ts', 'libs/*/src/**/*.spec.ts', 'test/**/*.spec.ts'];
const RULE = /[A-Z]\d+/;
/** A name begins with the rules that it proves: `S11: …`, `G3, S8: …`. What only looks like a rule, such as `S4.2`, is found unknown. */
const LIKE_RULE = /[A-Z]\d[\w.]*|\d+\.[\d.]+/;
const RULES_OF_NAME = new RegExp(`^((?:${LIKE_RULE.source})(?:, (?:${LIKE_RULE.source}))*): `);

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const page = read('docs/contract.md');
const rules = rulesOf(page);
const namings = globSync(SPECS, { cwd: ROOT }).flatMap((path) => namingsIn(read(path), path));
const listed = JSON.parse(read(UNTESTED)) as string[];

describe('docs/contract.md', () => {
  it('gives each rule a unique number', () => {
    expect(rules.length).toBeGreaterThan(80);
    expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).toEqual([]);
  });

  it('links only to existing rules', () => {
    const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));
    const targets = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, target]) => target!);
    expect(targets.length).toBeGreaterThan(40);
    expect(targets.filter((target) => !anchors.includes(target))).toEqual([]);
  });

  it('has every rule that a test names', () => {
    expect(namings.filter(({ rule }) => !rules.includes(rule))).toEqual([]);
  });

  it('has a test for every rule except the listed ones; UPDATE_DOCS=1 removes from the list those that have one', () => {
    const named = namings.map(({ rule }) => rule);
    const untested = rules.filter((rule) => !named.includes(rule));
    if (process.env['UPDATE_DOCS'] === '1') shrinkList(untested);
    const { newlyUntested, testedByNow } = compare(untested, JSON.parse(read(UNTESTED)) as string[]);
    expect({ newlyUntested, testedByNow }).toEqual({ newlyUntested: [], testedByNow: [] });
  });
});

describe('the comparison of rules and tests', () => {
  const source = `
    describe('G1: what is so', () => {
      it('S1, S2: two at once', () => {});
      it.each([1, 2])('S3: number %i', () => {});
      test.each\`a\${1}\`('S4: a table', () => {});
      for (const field of ['to']) it(\`S5: \\\`\${field}\\\`\`, () => {});
    });
    describe('G2: nothing in it', () => {});
    describe.skip('G3: left out', () => { it('S6: with it', () => {}); });
    it.skip('S7: left out', () => {});
    it.todo('S8: some day');
    it('S9 without a colon', () => {});
    it('after S10: not at the beginning', () => {});
    expect('S11: in a string');
  `;

  it('reads the rules of tests that run, and of the blocks around them', () => {
    const named = namingsIn(source, 'x.spec.ts').map(({ rule }) => rule);
    expect([...new Set(named)].sort()).toEqual(['G1', 'S1', 'S2', 'S3', 'S4', 'S5']);
  });

  it('also reads what only looks like a rule, so that it is reported as unknown', () => {
    const named = namingsIn(
      "it('S12, S4.2: x', () => {}); it('5.3: y', () => {}); it('404: z', () => {});",
      'x',
    );
    expect(named.map(({ rule }) => rule)).toEqual(['S12', 'S4.2', '5.3']);
  });

  it('reads the rules of headings and of tables', () => {
    expect(rulesOf('### S1 Raw\n\ntext S2\n\n| E1   | `POST` |\n| S1, S2 | no |\n## S3 no\n')).toEqual([
      'S1',
      'E1',
    ]);
  });

  it('finds a rule that lost its test, and one that is on the list in spite of its test', () => {
    expect(compare(['S1', 'S2'], ['S2', 'S3'])).toEqual({ newlyUntested: ['S1'], testedByNow: ['S3'] });
  });

  it('finds the rules of this contract untested when there are no tests', () => {
    expect(compare(rules, listed).newlyUntested.length).toBe(rules.length - listed.length);
  });
});

interface Naming {
  readonly rule: string;
  readonly test: string;
  readonly path: string;
}

/** The rules of a page: its headings of the third level, and the first cells of its tables. */
function rulesOf(text: string): string[] {
  const form = new RegExp(`^(?:### (${RULE.source}) .*|\\| (${RULE.source}) +\\|.*)$`, 'gm');
  return [...text.matchAll(form)].map(([, ofHeading, ofCell]) => (ofHeading ?? ofCell)!);
}

function compare(
  untested: readonly string[],
  list: readonly string[],
): { newlyUntested: string[]; testedByNow: string[] } {
  return {
    newlyUntested: untested.filter((rule) => !list.includes(rule)),
    testedByNow: list.filter((rule) => !untested.includes(rule)),
  };
}

function shrinkList(untested: readonly string[]): void {
  const left = listed.filter((rule) => untested.includes(rule));
  const line = JSON.stringify(left, null, 1).replace(/\s+/g, ' ').replace('[ ', '[').replace(' ]', ']');
  // As the formatter has it.
  writeFileSync(join(ROOT, UNTESTED), `${line.length <= 110 ? line : JSON.stringify(left, null, 2)}\n`);
}

/** As GitHub makes the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');
}

/** Which tests of a file name which rules, in their own names or in those of the blocks around them. */
function namingsIn(source: string, path: string): Naming[] {
  const found: Naming[] = [];
  const visit = (node: ts.Node, around: readonly string[]): void => {
    const block = ts.isCallExpression(node) ? blockOf(node) : undefined;
    if (block?.isLeftOut) return;
    const inside = block === undefined ? around : [...around, block.name];
    if (block?.isTest) {
      for (const name of inside)
        for (const rule of rulesOfName(name)) found.push({ rule, test: block.name, path });
    }
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest), []);
  return found;
}

function rulesOfName(name: string): string[] {
  return RULES_OF_NAME.exec(name)?.[1]!.split(', ') ?? [];
}

/** A call of `describe`, `it` or `test`, also of their `each`; undefined for any other. */
function blockOf(call: ts.CallExpression): { name: string; isTest: boolean; isLeftOut: boolean } | undefined {
  const words = wordsOf(call.expression);
  const [root] = words;
  const name = beginningOf(call.arguments[0]);
  if (name === undefined || (root !== 'describe' && root !== 'it' && root !== 'test')) return undefined;
  const isLeftOut = words.includes('skip') || words.includes('todo');
  return { name, isTest: root !== 'describe', isLeftOut };
}

/** `it.skip.each(…)` → it, skip, each. */
function wordsOf(callee: ts.Expression): string[] {
  if (ts.isIdentifier(callee)) return [callee.text];
  if (ts.isPropertyAccessExpression(callee)) return [...wordsOf(callee.expression), callee.name.text];
  if (ts.isCallExpression(callee)) return wordsOf(callee.expression);
  return ts.isTaggedTemplateExpression(callee) ? wordsOf(callee.tag) : [];
}

/** A string, or what of a template comes before its first value. */
function beginningOf(argument: ts.Expression | undefined): string | undefined {
  if (argument === undefined) return undefined;
  if (ts.isStringLiteralLike(argument)) return argument.text;
  return ts.isTemplateExpression(argument) ? argument.head.text : undefined;
}
