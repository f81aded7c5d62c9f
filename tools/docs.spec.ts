import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { HELPERS } from '../libs/rendering/src/templates/helpers.ts';
import {
  ATTEMPT_ERRORS,
  DELIVERY_STATUSES,
  EMAIL_STATUSES,
  ERASURE_STATES,
  IDENTITY_STATUSES,
  INVITATION_STATUSES,
  KEY_STAGES,
  RECOVERY_STATES,
  REPLY_CLASS_NAMES,
  REPLY_CLASSES,
  WEBHOOK_STATUSES,
} from '@posthorn/domain';
import { ALL_SECTIONS, describeSettings, readSettings, type SettingDescription } from '@posthorn/platform';
import { composedServices } from './images/services.mjs';
import { findCommand, isCommandGroup } from './posthorn/find-command.mjs';
import { parse as parseCall } from './posthorn/parse.mjs';
import { APPS, readersOf } from './settings-of-apps.ts';
import { ROOT } from './stack/runtime.mjs';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const settings = describeSettings(ALL_SECTIONS);

describe('docs/states.md', () => {
  const page = read('docs/states.md');

  it.each([
    ['An email', Object.keys(EMAIL_STATUSES)],
    ['An outbox row', enumOfSchema('outbox', 'OutboxState')],
    ['An identity', Object.keys(IDENTITY_STATUSES)],
    ['A DKIM key', Object.keys(KEY_STAGES)],
    ['A webhook', Object.keys(WEBHOOK_STATUSES)],
    ['A delivery', Object.keys(DELIVERY_STATUSES)],
    ['A recovery', Object.keys(RECOVERY_STATES)],
    ['An erasure', Object.keys(ERASURE_STATES)],
    ['An invitation', Object.keys(INVITATION_STATUSES)],
    ['The breaker of a relay', relayBreakerStates()],
  ])('draws every state of: %s', (title, states) => {
    expect(states.length).toBeGreaterThan(2);
    expect(difference(statesDrawn(page, title), states)).toEqual({ missing: [], unknown: [] });
  });

  it('labels its arrows so that mermaid can read them: no second colon, no semicolon', () => {
    const arrows = page.match(/^ +\S+ --> .*$/gm) ?? [];
    expect(arrows.length).toBeGreaterThan(20);
    for (const arrow of arrows) expect(arrow).toMatch(/^ +\S+ --> [^\s:;]+(: [^:;]+)?$/);
  });

  it('S8, S19: shows what each class of replies does, in the words of the code', () => {
    const cells = page.replace(/ +/g, ' ').replace(/-+/g, '-');
    expect(replyClassRows().filter((row) => !cells.includes(row))).toEqual([]);
  });

  it('fails when a state is missing or unknown', () => {
    const drawn = statesDrawn(page, 'An outbox row');
    expect(difference(drawn, [...drawn, 'lost'])).toEqual({ missing: ['lost'], unknown: [] });
    expect(difference(drawn, drawn.slice(1))).toEqual({ missing: [], unknown: [drawn[0]] });
  });
});

describe('docs/api.md', () => {
  it('S3: shows how each helper is written', () => {
    const page = read('docs/api.md');
    const usages = [...HELPERS.values()].map(({ usage }) => usage);
    expect(usages.length).toBeGreaterThan(5);
    expect(usages.filter((usage) => !page.includes(usage))).toEqual([]);
  });
});

describe('the errors of attempts to deliver an event', () => {
  it.each(Object.keys(ATTEMPT_ERRORS))('have `%s` in docs/api.md', (error) => {
    const [, sentence] = /and `error`: ([^.]*)\./.exec(read('docs/api.md'))!;
    expect(sentence).toContain(`\`${error}\``);
  });

  // Of an answer, the table has the status; and what a process of ours does, a receiver cannot change.
  const { http: _http, worker_died: _workerDied, ...ofReceivers } = ATTEMPT_ERRORS;
  it.each(Object.keys(ofReceivers))('say what to do about `%s` in docs/receiving-webhooks.md', (error) => {
    const [, table] = /^(\| the attempt has [^]*?)^$/m.exec(`${read('docs/receiving-webhooks.md')}\n`)!;
    const firstCells = table!.split('\n').map((row) => row.split('|')[1]);
    expect(firstCells.join()).toContain(`\`${error}\``);
  });
});

describe('docs/settings.md', () => {
  it('is generated from the settings; UPDATE_DOCS=1 npm run check:unit -- --testPathPatterns tools/docs writes it', () => {
    const rendered = settingsPage();
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, 'docs/settings.md'), rendered);
    expect(read('docs/settings.md')).toBe(rendered);
  });

  it('shows no example of a secret', () => {
    const secrets = settings.filter(({ secret, example }) => secret && example !== undefined);
    expect(secrets).not.toEqual([]);
    for (const { example } of secrets) expect(read('docs/settings.md')).not.toContain(example);
  });
});

describe('docker-compose.yml', () => {
  interface Service {
    readonly image?: string;
    readonly build?: { readonly target: string };
    readonly user?: string;
    readonly environment?: Readonly<Record<string, string>>;
    readonly healthcheck?: object;
  }
  const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
    services: Record<string, Service>;
  };
  /** Ports and addresses that it leads to, and a name that each app has for itself. */
  const SET_BY_COMPOSE = ['HTTP_HOST', 'HTTP_PORT', 'INBOUND_HOST', 'INBOUND_PORT', 'OTEL_SERVICE_NAME'];
  /** Read by the command line only, and documented in docs/operations/email.md. */
  const OF_THE_CLI = ['POSTHORN_OPERATOR'];
  const dockerfile = read('Dockerfile');
  const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);

  it('has a service for every app, built from a target of the Dockerfile', () => {
    for (const app of APPS) expect(services[app]?.build?.target).toBe(app);
    for (const [, { build }] of ours) expect(dockerfile).toMatch(new RegExp(` AS ${build!.target}$`, 'm'));
  });

  it('gives our services only settings that exist, and all that they require', () => {
    const all = settings.map(({ name }) => name);
    for (const [name, { environment = {} }] of ours) {
      const known = name === 'cli' ? [...all, ...OF_THE_CLI] : all;
      expect({ name, unknown: Object.keys(environment).filter((key) => !known.includes(key)) }).toEqual({
        name,
        unknown: [],
      });
      const required = settings.filter(
        (setting) => setting.required && readersOf(setting.section).includes(name),
      );
      for (const setting of required) expect(Object.keys(environment)).toContain(setting.name);
    }
  });

  it('passes on to each app every setting that it reads, and no secret of another', () => {
    for (const app of APPS) {
      const { environment = {} } = services[app]!;
      const [read, others] = [true, false].map((reads) =>
        settings.filter(({ section }) => readersOf(section).includes(app) === reads),
      ) as [SettingDescription[], SettingDescription[]];
      const missing = read.map(({ name }) => name).filter((name) => !(name in environment));
      const secrets = others.filter(({ name, secret }) => secret && name in environment);
      expect({ app, missing: missing.filter((name) => !SET_BY_COMPOSE.includes(name)), secrets }).toEqual({
        app,
        missing: [],
        secrets: [],
      });
    }
  });

  it('gives the command line every setting that an app gets, since the doctor checks them', () => {
    const given = APPS.flatMap((app) => Object.entries(services[app]!.environment ?? {}));
    expect(services['cli']!.environment).toMatchObject(Object.fromEntries(given));
  });

  it('starts every app with valid settings when .env has only what is required', () => {
    const given = {
      ENCRYPTION_KEYS: `first:${Buffer.alloc(32).toString('base64')}`,
      PUBLIC_URL: 'https://posthorn.example.com',
      SMTP_URL: 'smtps://relay.example.com',
    };
    for (const { name, environment } of composedServices(given).filter(({ name }) => APPS.includes(name))) {
      const read = Object.entries(ALL_SECTIONS).filter(([section]) => readersOf(section).includes(name));
      expect(() => readSettings(Object.fromEntries(read), environment)).not.toThrow();
    }
  });

  it('runs our services with a read-only file system and without privileges', () => {
    for (const [name, service] of ours)
      expect({ name, service }).toMatchObject({
        name,
        service: { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
      });
  });

  it('pins every image, checks the health of every long-running service, and runs nothing as root', () => {
    for (const { image, user, healthcheck } of Object.values(services)) {
      if (image === undefined) continue;
      expect(image).toMatch(/:v?\d+\.\d+/);
      expect(healthcheck).toBeDefined();
      expect(user).toBeDefined();
    }
    for (const image of dockerfile.matchAll(/^FROM node:(\S+)/gm))
      expect(image[1]).toMatch(/^\d+\.\d+\.\d+-/);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  });
});

describe('the links between the pages', () => {
  const pages = ['README.md', 'CHANGELOG.md', 'k8s/README.md', ...pagesBelow('docs')];

  it.each(pages)('of %s lead somewhere', (page) => {
    const targets = [...read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)].map(
      ([, target]) => target!,
    );
    expect(targets.filter((target) => !existsSync(join(ROOT, dirname(page), target)))).toEqual([]);
  });

  it('name every npm script as it is called', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const known = [...Object.keys(scripts), '--silent'];
    for (const page of pages) {
      const named = [...read(page).matchAll(/npm run ([a-z:-]+)/g)].map(([, script]) => script!);
      expect({ page, unknown: named.filter((script) => !known.includes(script)) }).toEqual({
        page,
        unknown: [],
      });
    }
  });
});

describe('the commands of operators in the text of the pages', () => {
  const pages = ['README.md', 'CHANGELOG.md', 'k8s/README.md', ...pagesBelow('docs')];
  const spans = (form: RegExp): [string, string[]][] =>
    pages.flatMap((page) =>
      [...read(page).matchAll(form)].map(([, words]): [string, string[]] => [
        `${page}: ${words}`,
        words!.match(/'[^']*'|"[^"]*"|\S+/g)!,
      ]),
    );
  const calls = spans(/`npm run posthorn -- ([^`]+)`/g).filter(([, words]) => !words.includes('…'));

  it.each(calls)('are called as the command line has it: %s', (_where, words) => {
    expect(() => parseCall(words)).not.toThrow();
  });

  it.each(spans(/`posthorn ([^`]+)`/g))('are there: %s', (_where, words) => {
    const isOfSeveral = isCommandGroup(words.filter((word) => word !== '…'));
    expect(isOfSeveral || findCommand(words).command).toBeTruthy();
  });
});

describe('the lines of the log that operators are told to look for', () => {
  const texts = ['apps', 'libs']
    .flatMap((folder) => filesBelow(folder, /^[\w-]+\/src\/.*(?<!\.spec)\.ts$/))
    .map(read);
  const quoted = [...pagesBelow('docs/operations'), ...pagesBelow('docs/runbooks')].flatMap((page) => {
    const text = read(page);
    const alerts = /^\| line [^]*?\n\n/m.exec(text)?.[0] ?? '';
    const cells = [...alerts.matchAll(/^\| (`[^|]*)/gm)].flatMap(([, cell]) => [
      ...cell!.matchAll(/`([^`]+)`/g),
    ]);
    const words = text.matchAll(/\b(?:logs?|line|says?|warnings|says so \()\s+`([a-z][^`]* [^`]*)`/gi);
    return [...cells, ...words].map(([, line]): [string, string] => [page, line!]);
  });

  it.each(quoted)('are written: %s: %s', (_page, line) => {
    const parts = line.split(/…|\b[NM]\b/).map((part) => part.trim());
    expect(texts.some((text) => parts.every((part) => text.includes(part)))).toBe(true);
  });
});

/** The values of an enum in prisma/schema. */
function enumOfSchema(file: string, name: string): string[] {
  const body =
    new RegExp(`^enum ${name} \\{\\n([^}]*)\\}`, 'm').exec(read(`prisma/schema/${file}.prisma`))?.[1] ?? '';
  return [...body.matchAll(/^ {2}(\w+)/gm)].map(([, value]) => value!);
}

/** The words of the type; it exists only for the compiler. */
function relayBreakerStates(): string[] {
  const source = read('libs/smtp/src/relays/relay-breaker.ts');
  const type = /type RelayBreakerState = ([^;]+);/.exec(source)?.[1] ?? '';
  return [...type.matchAll(/'(\w+)'/g)].map(([, state]) => state!);
}

/** The rows of the table of reply classes, with single spaces. */
function replyClassRows(): string[] {
  const rows = REPLY_CLASS_NAMES.map((name) => {
    const { meaning, status, suppresses, passes, retryNotBeforeSeconds } = REPLY_CLASSES[name];
    const patience = retryNotBeforeSeconds / 60;
    const temporary = { sent: '', relay: 'the breaker opens' }[name as string] ?? 'tried again';
    return [
      `\`${name}\``,
      meaning,
      status === null ? 'the breaker opens' : passes ? 'as temporary' : `\`${status}\``,
      suppresses ? 'yes' : 'no',
      patience === 0 ? temporary : `tried again, after ${patience} min at the earliest`,
    ];
  });
  return rows.map((row) => `| ${row.map((cell) => cell || ' ').join(' | ')} |`.replace(/ +/g, ' '));
}

/** The states of the diagram below a heading. */
function statesDrawn(page: string, title: string): string[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${title}\n`)) ?? '';
  const diagram = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(section)?.[1] ?? '';
  const ends = [...diagram.matchAll(/^ *(\S+) --> ([^\s:]+)/gm)].flatMap(([, from, to]) => [from!, to!]);
  return [...new Set(ends)].filter((state) => state !== '[*]');
}

function difference(
  drawn: readonly string[],
  states: readonly string[],
): { missing: string[]; unknown: string[] } {
  return {
    missing: states.filter((state) => !drawn.includes(state)),
    unknown: drawn.filter((state) => !states.includes(state)),
  };
}

function settingsPage(): string {
  const sections = Object.keys(ALL_SECTIONS).map((section) => {
    const readers = readersOf(section).map((app) => `\`${app}\``);
    const lines = settings.filter((setting) => setting.section === section).map(settingLine);
    return `## ${section}\n\nRead by ${readers.join(', ')}.\n\n${lines.join('\n')}\n`;
  });
  return `# Settings\n\nThis page is generated from the code. Settings come from the environment; a file \`.env\` in the working directory
supplies what the environment lacks. An empty value counts as none. A process reads its settings once, when it starts;
if it finds faults, it names all of them and does not start.\n\n${sections.join('\n')}`;
}

function settingLine({
  name,
  sentence,
  allowed,
  required,
  secret,
  default: initial,
}: SettingDescription): string {
  const unset = required ? 'Required' : `Default: ${initial === undefined ? 'none' : `\`${initial}\``}`;
  const values = allowed.replace(/\/\^.+\$\//, (pattern) => `\`${pattern}\``);
  return `- **\`${name}\`** — ${sentence} ${unset}; ${values}.${secret ? ' Secret: never shown in a log or an error.' : ''}`;
}

function pagesBelow(folder: string): string[] {
  return filesBelow(folder, /\.md$/);
}

function filesBelow(folder: string, form: RegExp): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => form.test(path))
    .map((path) => join(folder, path));
}
