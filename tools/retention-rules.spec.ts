import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from './stack/runtime.mjs';

/** The tables that the schema declares; a test of libs/database holds it against the database. */
function tablesDeclared(): string[] {
  const folder = join(ROOT, 'prisma/schema');
  const text = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  return [...text.matchAll(/^model \w+ \{.*?@@map\("(\w+)"\)/gms)].map(([, table]) => table!);
}

/** The tables of the page that say when what is in them goes. */
function tablesRuled(page: string): string[] {
  const section = /^## Retention$(.*?)(?=^## |(?![^]))/ms.exec(page)?.[1] ?? '';
  return [...section.matchAll(/^\| `(\w+)` +\| \S.*\|$/gm)].map(([, table]) => table!);
}

describe('The retention rules of docs/operations/data.md', () => {
  const page = readFileSync(join(ROOT, 'docs/operations/data.md'), 'utf8');

  it('say of each table when what is in it goes, and of no other', () => {
    expect(tablesRuled(page).toSorted()).toEqual(tablesDeclared().toSorted());
    expect(tablesDeclared().length).toBeGreaterThan(30);
  });

  it('are missed when one is not there', () => {
    const without = page.replace(/^\| `webhook_attempts` .*$/m, '');
    expect(tablesRuled(without)).not.toContain('webhook_attempts');
    expect(tablesRuled(without)).toHaveLength(tablesRuled(page).length - 1);
  });
});
