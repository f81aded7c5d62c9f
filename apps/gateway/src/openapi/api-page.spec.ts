import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { EVENT_NAMES } from '@posthorn/domain';
import { OPERATIONS } from './document.fixture.ts';

/** The page writes some ids in paths shorter. */
const withoutNames = (text: string): string => text.replaceAll(/\{\w+\}/g, '{…}');

const page = withoutNames(readFileSync(new URL('../../../../docs/api.md', import.meta.url), 'utf8'));
const sections = page.split(/^(?=## )/m);

/** The sections that name a route: in their heading, or in a table. */
function sectionsAbout(route: string): string {
  const named = withoutNames(route);
  return sections
    .filter((text) => text.startsWith(`## ${named}\n`) || text.includes(`\`${named}\``))
    .join('');
}

const queries = OPERATIONS.filter(([route]) => route.includes(' /v1/')).map(
  ([route, operation]): [route: string, names: string[]] => {
    const { parameters = [] } = operation as { parameters?: readonly { in: string; name: string }[] };
    return [route, parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)];
  },
);

describe('docs/api.md', () => {
  it('names no route that does not exist, so that the tests below can fail', () => {
    expect(sectionsAbout('GET /v1/nothing')).toBe('');
  });

  it('names every event', () => {
    expect(EVENT_NAMES.filter((event) => !page.includes(`\`${event}\``))).toEqual([]);
  });

  it.each(queries)('names %s, and what its query can have', (route, names) => {
    const about = sectionsAbout(route);
    expect(about).not.toBe('');
    expect(names.filter((name) => !about.includes(`\`${name}\``))).toEqual([]);
  });
});
