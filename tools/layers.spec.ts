import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { APPS_MAY_IMPORT, LIBS } from './layers.mjs';
import { ROOT } from './stack/runtime.mjs';

const TEST_FILE = /\.(?:spec|fixture)\.ts$/;
/** A file, what it imports, and the rule that must forbid it; without a rule it is allowed. */
const IMPORTS: [file: string, imported: string, rule?: string][] = [
  ['libs/kernel/src/a.ts', '@posthorn/domain', 'layer-kernel'],
  ['libs/kernel/src/b.ts', 'bullmq', 'kernel-without-packages'],
  ['libs/domain/src/a.ts', '@posthorn/database', 'layer-domain'],
  ['libs/domain/src/b.ts', '@posthorn/signing', 'layer-domain'],
  ['libs/domain/src/c.ts', '@posthorn/kernel'],
  ['libs/database/src/a.ts', '@posthorn/queues', 'layer-database'],
  ['libs/database/src/b.ts', 'pg'],
  ['libs/database/src/c.ts', '@posthorn/use-cases', 'layer-database'],
  ['libs/database/src/sql/a.ts', '../stores/kept.ts', 'stores-on-top'],
  ['libs/database/src/stores/a.ts', './kept.ts'],
  ['libs/smtp/src/a.ts', './relays/kept.ts'],
  ['libs/smtp/src/relays/a.ts', '../secret.ts', 'relays-of-any-kind'],
  ['libs/smtp/src/relays/b.ts', 'nodemailer', 'relays-of-any-kind'],
  ['libs/smtp/src/relays/c.ts', './kept.ts'],
  ['libs/smtp/src/relays/d.spec.ts', '../secret.ts'],
  ['libs/queues/src/a.ts', 'pg', 'only-in-database'],
  ['libs/queues/src/b.ts', '@prisma/client', 'only-in-database'],
  ['libs/use-cases/src/a.ts', '@posthorn/auth', 'layer-use-cases'],
  ['libs/use-cases/src/b.ts', 'bullmq', 'only-in-queues'],
  ['libs/use-cases/src/c.ts', '@posthorn/database'],
  ['libs/use-cases/src/d.ts', '@posthorn/testing', 'layer-use-cases'],
  ['libs/use-cases/src/d.spec.ts', '@posthorn/testing'],
  ['libs/use-cases/src/d.fixture.ts', '@posthorn/testing'],
  ['libs/domain/src/e.spec.ts', '@posthorn/database', 'layer-domain-tests'],
  ['libs/auth/src/a.ts', '../../database/src/secret.ts', 'index-only'],
  ['libs/auth/src/b.ts', './nowhere.ts', 'no-unresolvable'],
  ['apps/gateway/src/a.ts', '../../sender/src/index.ts', 'layer-apps'],
  ['apps/gateway/src/b.ts', '@posthorn/use-cases'],
  ['apps/gateway/src/c.ts', './index.ts'],
  ['apps/gateway/src/d.ts', 'nodemailer', 'only-in-smtp'],
  ['libs/use-cases/src/e.ts', 'node:dns/promises', 'only-in-dns'],
  ['libs/use-cases/src/f.ts', '@posthorn/dns'],
  ['apps/webhook-dispatcher/src/u.ts', 'undici', 'only-in-webhooks'],
  ['libs/webhooks/src/b.ts', '@posthorn/dns', 'layer-webhooks'],
  ['libs/dns/src/a.ts', 'node:dns'],
  ['libs/dns/src/b.ts', '@posthorn/database', 'layer-dns'],
  ['apps/gateway/src/e.ts', '@posthorn/testing', 'layer-apps'],
  ['apps/gateway/src/e.spec.ts', '@posthorn/testing'],
  ['apps/gateway/src/f.ts', '@posthorn/domain'],
];

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** A workspace with our packages, but without their sources. */
function writeWorkspace(root: string): void {
  for (const lib of Object.keys(LIBS)) {
    cpSync(join(ROOT, 'libs', lib, 'package.json'), join(root, 'libs', lib, 'package.json'));
    write(join(root, 'libs', lib, 'src/index.ts'), 'export const here = 1;\n');
    mkdirSync(join(root, 'node_modules/@posthorn'), { recursive: true });
    symlinkSync(join(root, 'libs', lib), join(root, 'node_modules/@posthorn', lib));
  }
  for (const file of [
    'database/src/secret.ts',
    'database/src/stores/kept.ts',
    'smtp/src/secret.ts',
    'smtp/src/relays/kept.ts',
  ])
    write(join(root, 'libs', file), 'export const here = 1;\n');
  for (const app of ['gateway', 'sender'])
    write(join(root, 'apps', app, 'src/index.ts'), 'export const here = 1;\n');
  for (const name of ['pg', '@prisma/client', 'bullmq', 'nodemailer']) {
    write(join(root, 'node_modules', name, 'package.json'), `{ "name": "${name}", "main": "index.js" }`);
    write(join(root, 'node_modules', name, 'index.js'), '');
  }
  for (const file of ['.dependency-cruiser.mjs', 'tools/layers.mjs'])
    cpSync(join(ROOT, file), join(root, file));
}

interface Violation {
  from: string;
  rule: { name: string };
}

describe('The layers', () => {
  let root: string;
  let violations: Violation[];

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'layers-'));
    writeWorkspace(root);
    for (const [file, imported] of IMPORTS) write(join(root, file), `import '${imported}';\n`);
    const cruiser = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
    const args = [cruiser, '--config', '.dependency-cruiser.mjs', '--output-type', 'json', 'apps', 'libs'];
    const { stdout } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    violations = (JSON.parse(stdout) as { summary: { violations: Violation[] } }).summary.violations;
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const rulesBrokenBy = (file: string) =>
    violations.filter(({ from }) => from === file).map(({ rule }) => rule.name);

  it.each(IMPORTS.filter(([, , rule]) => rule !== undefined))(
    'forbid that %s imports %s',
    (file, _imported, rule) => {
      expect(rulesBrokenBy(file)).toContain(rule);
    },
  );

  it.each(IMPORTS.filter(([, , rule]) => rule === undefined))('allow that %s imports %s', (file) => {
    expect(rulesBrokenBy(file)).toEqual([]);
  });
});

const packages = ['libs', 'apps'].flatMap((kind) =>
  readdirSync(join(ROOT, kind)).map((name) => [kind, name] as const),
);

/** The libs that a package.json depends on. */
function declaredBy(kind: string, name: string): string[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, kind, name, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  return Object.keys(manifest.dependencies ?? {})
    .filter((dependency) => dependency.startsWith('@posthorn/'))
    .map((dependency) => dependency.slice(10));
}

describe('Every package.json', () => {
  it.each(packages)(
    'of %s/%s depends on what the table allows, and on what its sources import',
    (kind, name) => {
      const declared = declaredBy(kind, name);
      const allowed = kind === 'apps' ? APPS_MAY_IMPORT : LIBS[name];

      expect(allowed).toEqual(expect.arrayContaining(declared));
      expect(declared).toEqual(expect.arrayContaining(importedBy(join(ROOT, kind, name, 'src'))));
    },
  );

  /** The libs that the sources import, without tests and fixtures. */
  function importedBy(folder: string): string[] {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const sources = files.filter((file) => file.endsWith('.ts') && !TEST_FILE.test(file));
    const text = sources.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
    return [...new Set([...text.matchAll(/from '@posthorn\/([a-z-]+)'/g)].map(([, lib]) => lib ?? ''))];
  }
});

describe('Every package is built', () => {
  it.each(packages)(
    '%s/%s with the common configuration, after the libs that it depends on',
    (kind, name) => {
      const config = JSON.parse(readFileSync(join(ROOT, kind, name, 'tsconfig.json'), 'utf8')) as {
        references: { path: string }[];
      };
      const references = declaredBy(kind, name).map((lib) => ({ path: `../../libs/${lib}` }));
      const common = kind === 'apps' ? '../../tsconfig.app.json' : '../../tsconfig.package.json';
      expect(config).toEqual({ extends: common, references: config.references });
      expect(new Set(config.references)).toEqual(new Set(references));
    },
  );

  it('by the compiler at the root too', () => {
    const { references } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
      references: { path: string }[];
    };
    expect(references.map(({ path }) => path).sort()).toEqual(
      packages.map((names) => names.join('/')).sort(),
    );
  });

  it('without its tests and their fixtures', () => {
    const compiler = join(ROOT, 'node_modules/typescript-7/bin/tsc');
    const args = [compiler, '--project', join(ROOT, 'libs/database'), '--showConfig'];
    const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    const { files } = JSON.parse(stdout) as { files: string[] };
    expect(files).toContain('./src/index.ts');
    expect(files.filter((file) => TEST_FILE.test(file))).toEqual([]);
  });
});
