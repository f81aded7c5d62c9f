/**
 * Which of our packages, the libs and apps, may import which. `.dependency-cruiser.mjs` reads its rules from here; the spec checks that
 * violations are detected.
 *
 * kernel ◀ core ◀ adapters ◀ use-cases, auth ◀ apps
 */
const KERNEL = ['kernel'];
const CORE = ['domain', 'signing', 'rendering'];
const ADAPTERS = ['database', 'dns', 'queues', 'smtp', 'reports', 'webhooks', 'platform'];
const APPLICATION = ['use-cases', 'auth'];

/** The libs that each lib may import; libs of the same layer do not import each other. @type {Record<string, string[]>} */
export const LIBS = {
  kernel: [],
  ...each(CORE, KERNEL),
  ...each(ADAPTERS, [...KERNEL, ...CORE]),
  ...each(APPLICATION, [...KERNEL, ...CORE, ...ADAPTERS]),
  testing: [...KERNEL, ...CORE, ...ADAPTERS],
};

/** The libs that an app may import; never another app. */
export const APPS_MAY_IMPORT = [...KERNEL, ...CORE, ...ADAPTERS, ...APPLICATION];

/** npm packages that only one lib may import, so that they can be replaced there. @type {Record<string, string[]>} */
const ONLY_IN = {
  database: ['pg', '@prisma/[^/]+'],
  queues: ['bullmq', 'ioredis'],
  smtp: ['nodemailer'],
  dns: ['(?:node:)?dns(?:/promises)?'],
  webhooks: ['undici'],
  platform: ['@opentelemetry/[^/]+'],
};

/** Only tests and their fixtures may import `testing`. */
const TEST_FILE = '\\.(?:spec|fixture)\\.ts$';

function each(names, mayImport) {
  return Object.fromEntries(names.map((name) => [name, mayImport]));
}

function anyOf(names) {
  return `(?:${names.join('|')})`;
}

/** Forbids every lib that is not listed, and every app but the package itself. */
function layerRule({ name, folder, mayImport, tests }) {
  const allowed = [...mayImport, ...(tests ? ['testing'] : [])];
  const self = folder.startsWith('libs/') ? [folder.slice('libs/'.length)] : [];
  const files = tests ? { path: `^${folder}/.*${TEST_FILE}` } : { path: `^${folder}/`, pathNot: TEST_FILE };
  return {
    name: `${name}${tests ? '-tests' : ''}`,
    comment: `${folder} may import ${mayImport.join(', ') || 'no other lib'}. Move what is needed to a lib that both may import.`,
    severity: 'error',
    from: files,
    to: {
      path: `^(?:libs/(?!${anyOf([...self, ...allowed, '\\b\\B'])}/)|apps/|test/|tools/)`,
      pathNot: `^${folder}/`,
    },
  };
}

function layerRules() {
  const libs = Object.entries(LIBS).map(([lib, mayImport]) => ({
    name: `layer-${lib}`,
    folder: `libs/${lib}`,
    mayImport,
  }));
  const apps = { name: 'layer-apps', folder: 'apps/([^/]+)', mayImport: APPS_MAY_IMPORT };
  return [...libs, apps]
    .flatMap((layer) => [layerRule({ ...layer, tests: false }), layerRule({ ...layer, tests: true })])
    .map(ownAppOnly);
}

/** In a pattern for `to`, an app is replaced by the app that contains the importing file. */
function ownAppOnly(rule) {
  return { ...rule, to: { ...rule.to, pathNot: rule.to.pathNot.replace('([^/]+)', '$1') } };
}

function packageRules() {
  return Object.entries(ONLY_IN).map(([lib, packages]) => ({
    name: `only-in-${lib}`,
    comment: `Only libs/${lib} may import these packages; ask it for what you need.`,
    severity: 'error',
    from: { path: '^(?:apps|libs)/', pathNot: `^libs/${lib}/` },
    to: { path: `(?:^|node_modules/)${anyOf(packages)}(?:/|$)` },
  }));
}

const GENERAL_RULES = [
  {
    name: 'index-only',
    comment: 'A lib is imported by its name, never by a path into it.',
    severity: 'error',
    from: { path: '^(apps|libs)/([^/]+)/' },
    to: { path: '^libs/[^/]+/', pathNot: ['^$1/$2/', '^libs/[^/]+/src/index\\.ts$'] },
  },
  {
    name: 'kernel-without-packages',
    comment: 'The kernel imports no package.',
    severity: 'error',
    from: { path: '^libs/kernel/', pathNot: TEST_FILE },
    to: { path: 'node_modules' },
  },
  {
    name: 'stores-on-top',
    comment:
      'In libs/database only stores import stores: statements, transactions and connections stand below them.',
    severity: 'error',
    from: { path: '^libs/database/src/[^/]+/', pathNot: ['^libs/database/src/stores/', TEST_FILE] },
    to: { path: '^libs/database/src/stores/' },
  },
  {
    name: 'relays-of-any-kind',
    comment:
      'In libs/smtp, what chooses between relays and spares them knows nothing of how they are reached.',
    severity: 'error',
    from: { path: '^libs/smtp/src/relays/', pathNot: TEST_FILE },
    to: { path: ['^libs/smtp/src/(?!relays/)', '(?:^|node_modules/)nodemailer(?:/|$)'] },
  },
  { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
  { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
];

/** The rules in the format of dependency-cruiser. */
export const RULES = [...layerRules(), ...packageRules(), ...GENERAL_RULES];
