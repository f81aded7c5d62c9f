import { expect } from '@jest/globals';
import type { Fence } from './fences.ts';

/** What differs from run to run (ids, times, ports, durations, the inbox's numbers), each with the pattern that replaces it. */
const VARIABLE_PARTS: readonly [RegExp, string][] = [
  [/(?<![a-z])(?:[a-z]+_)?0[0-9a-z]{25}\b/g, String.raw`(?:[a-z]+_)?0[0-9a-z]{25}`],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`],
  [
    /[A-Z][a-z]{2}, \d\d? [A-Z][a-z]{2} \d{4} [\d:]{8}/g,
    String.raw`[A-Z][a-z]{2},\d+[A-Z][a-z]{2}\d{4}[\d:]{8}`,
  ],
  [/127\.0\.0\.1:\d+/g, String.raw`127\.0\.0\.1:\d+`],
  [/\d+\.\d s/g, String.raw`\d+\.\ds`],
  [/\b\d{14}-\d{5}\b/g, String.raw`\d{14}-\d{5}`],
  [/\blocal-\w{6}\b/g, String.raw`local-\w+`],
  [/\s*…\s*/g, '[^]*'],
];

/** A pattern for expected output: `…` stands for anything, and whitespace is ignored. */
export function patternOf(words: string): RegExp {
  const kept: string[] = [];
  const keep = (pattern: string): string => `\u0000${kept.push(pattern) - 1}\u0001`;
  const marked = VARIABLE_PARTS.reduce(
    (text, [form, pattern]) => text.replaceAll(form, () => keep(pattern)),
    words,
  );
  const source = squeeze(marked)
    .replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
    .replaceAll(/\u0000(\d+)\u0001/g, (_mark, place: string) => kept[Number(place)]!);
  return new RegExp(`^${source}$`);
}

/** Text without whitespace. */
export function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** Checks printed output against the output that the page shows. */
export function expectPrinted({ language, code }: Fence, stdout: string): void {
  if (language === 'json') expect(faultsOf(JSON.parse(code), JSON.parse(stdout))).toEqual([]);
  else expect(squeeze(stdout)).toMatch(patternOf(code));
}

/** The differences in structure between two JSON values; null and an empty list match anything. */
export function faultsOf(shown: unknown, real: unknown, path = ''): string[] {
  if (shown === null || real === null) return [];
  if (Array.isArray(shown) && Array.isArray(real))
    return shown.length > 0 && real.length > 0 ? faultsOf(shown[0], real[0], `${path}[0]`) : [];
  if (typeof shown !== typeof real || Array.isArray(shown) !== Array.isArray(real))
    return [`${path} is of another type`];
  if (typeof shown !== 'object' || typeof real !== 'object') return [];
  const [one, other] = [shown, real] as Record<string, unknown>[];
  const names = new Set([...Object.keys(one!), ...Object.keys(other!)]);
  return [...names].flatMap((name) => {
    if (!(name in one!)) return [`${path}.${name} is not shown`];
    if (!(name in other!)) return [`${path}.${name} is not there`];
    return faultsOf(one![name], other![name], `${path}.${name}`);
  });
}
