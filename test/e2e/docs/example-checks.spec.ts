import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { examplesIn, examplesOf, PAGES, ROOT, textOf } from './fences.ts';
import { uncheckedBlocksIn } from './needs.ts';
import { faultsOf, patternOf, squeeze } from './expected-output.ts';

describe('The examples of the documents', () => {
  it('are run, or say why they are not', () => {
    expect(PAGES.flatMap((page) => uncheckedBlocksIn(textOf(page), page))).toEqual([]);
  });

  it('of the guide show their output, in every language', () => {
    const calls = examplesOf('docs/guide.md');
    expect(new Set(calls.map(({ language }) => language))).toEqual(new Set(['sh', 'ts', 'python', 'go']));
    expect(calls.filter(({ prints, code }) => prints === undefined && !code.startsWith('export '))).toEqual(
      [],
    );
  });

  it('in TypeScript satisfy the compiler', async () => {
    const directory = join(ROOT, '.cache', 'docs-examples');
    mkdirSync(directory, { recursive: true });
    const sources = PAGES.flatMap(examplesOf).filter(({ language }) => language === 'ts');
    const files = sources.map(({ code }, place) => {
      const file = join(directory, `${place}.mts`);
      writeFileSync(file, `export {};\n${code}`);
      return file;
    });
    const compiler = join(ROOT, 'node_modules', 'typescript-7', 'bin', 'tsc');
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--pretty', 'false'];
    const args = [
      compiler,
      ...options,
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--types',
      'node',
      ...files,
    ];
    const said = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch(
      (error: { stdout: string }) => error,
    );
    expect(said.stdout).toBe('');
  });
});

describe('The checks of the examples', () => {
  const page = (info: string): string => `# A\n\n\`\`\`${info}\nsome words\n\`\`\`\n`;

  it.each(['', 'bash', 'console', 'sh needs=luck', 'sh docker', 'ts needs=cluster'])(
    'report a block that is neither run nor declared: ```%s',
    (info) => {
      expect(uncheckedBlocksIn(page(info), 'x.md')).toEqual([expect.stringContaining('x.md, line 3')]);
    },
  );

  it.each(['sh', 'ts', 'python', 'go', 'sql', 'text', 'json', 'sh needs=cluster'])(
    'accept a block that is run or checked: %s',
    (info) => {
      expect(uncheckedBlocksIn(page(info), 'x.md')).toEqual([]);
    },
  );

  it('parse blocks in lists, headings outside of blocks, and expected output only below the same heading', () => {
    const text =
      '## One\n\n1. so:\n\n   ```sh\n   # no heading\n   a\n   ```\n\n```text\nb\n```\n\n```sh\nc\n```\n## Two\n```text\nd\n```\n';
    const found = examplesIn(text, 'x.md').map(({ section, code, prints }) => [section, code, prints?.code]);
    expect(found).toEqual([
      ['One', '# no heading\na\n', 'b\n'],
      ['One', 'c\n', undefined],
    ]);
    expect(() => examplesIn('```sh\nfor ever\n', 'x.md')).toThrow('x.md, line 1');
  });

  it('report different output, but ignore ids and times', () => {
    const shown = 'id trs_01m7yxt5zwexraawhax4wxnnqq (a.b)\nat 2026-11-21T11:28:08.265Z … 200';
    expect(
      squeeze('id trs_01m80jppq2e74s3qqcdqa9fdex (a.b) at 2027-01-01T00:00:00.000Z and so on 200'),
    ).toMatch(patternOf(shown));
    expect(squeeze('id trs_01m80jppq2e74s3qqcdqa9fdex (aXb) at 2027-01-01T00:00:00.000Z 200')).not.toMatch(
      patternOf(shown),
    );
    expect(squeeze('id trs_01m80jppq2e74s3qqcdqa9fdex (a.b) at once 200')).not.toMatch(patternOf(shown));
  });

  it('report fields that are missing, of another type, or not shown', () => {
    const shown = { a: { b: 1, c: [{ d: '' }], e: null }, f: [] };
    expect(faultsOf(shown, { a: { b: 2, c: [{ d: 'x' }, {}], e: 'any' }, f: [3] })).toEqual([]);
    expect(faultsOf(shown, { a: { b: '2', c: [{}], e: 1 }, g: 1 })).toEqual([
      '.a.b is of another type',
      '.a.c[0].d is not there',
      '.f is not there',
      '.g is not shown',
    ]);
  });
});
