import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The pages that people read first, in that order. */
const FIRST = ['README.md', 'docs/guide.md', 'docs/api.md', 'docs/operations/installing.md'];

/** Every page for people. */
export const PAGES = [
  ...new Set([...FIRST, ...globSync(['docs/**/*.md', 'k8s/**/*.md'], { cwd: ROOT }).sort()]),
];

/** A fenced code block of a page. */
export interface Fence {
  readonly page: string;
  readonly line: number;
  /** The heading above it. */
  readonly section: string;
  readonly language: string;
  /** What it needs to be run: the value of `needs=`. */
  readonly needs: string | undefined;
  readonly code: string;
}

/** A block that is run, with the block that shows its expected output. */
export interface Example extends Fence {
  readonly prints: Fence | undefined;
}

/** Languages whose blocks are not run. */
export const SHOWN = ['text', 'json', 'yaml', 'nginx', 'mermaid'];

/** Where a block is, for messages. */
export function whereIs({ page, line, language }: Fence): string {
  return `${page}, line ${line} (${language})`;
}

export function textOf(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The blocks of a page, without their indentation in a list. @throws when one has no end */
export function fencesIn(text: string, page: string): Fence[] {
  const fences: Fence[] = [];
  let section = '';
  let open: { line: number; indent: number; info: string; code: string } | undefined;
  for (const [place, line] of text.split('\n').entries()) {
    const [, indent, info] = /^( *)```(.*)$/.exec(line) ?? [];
    if (open === undefined) {
      section = /^#+ (.*)$/.exec(line)?.[1] ?? section;
      if (indent !== undefined) open = { line: place + 1, indent: indent.length, info: info!, code: '' };
    } else if (info === undefined) {
      open.code += `${line.slice(open.indent)}\n`;
    } else {
      fences.push(fenceOf(page, section, open));
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${page}, line ${open.line}: the block has no end`);
  return fences;
}

function fenceOf(
  page: string,
  section: string,
  { line, info, code }: { line: number; info: string; code: string },
): Fence {
  const [language = '', ...words] = info.trim().split(' ');
  const needs = words.length === 0 ? undefined : words.join(' ').replace(/^needs=/, '');
  return { page, line, section, language, needs, code };
}

/** Each block that is run, with the `text` or `json` block that follows it under the same heading. */
export function examplesIn(text: string, page: string): Example[] {
  const fences = fencesIn(text, page);
  return fences.flatMap((fence, place) => {
    if (SHOWN.includes(fence.language)) return [];
    const next = fences[place + 1];
    const isItsOutput = next?.section === fence.section && ['text', 'json'].includes(next.language);
    return [{ ...fence, prints: isItsOutput ? next : undefined }];
  });
}

export function examplesOf(page: string): Example[] {
  return examplesIn(textOf(page), page);
}
