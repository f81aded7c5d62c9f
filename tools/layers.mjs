/**
 * Which rooms may import which: the only definition. `.dependency-cruiser.mjs` is generated from it, and a test adds violations to check
 * that they are detected.
 *
 * kernel ◀ core ◀ adapters ◀ use-cases, auth ◀ apps
 */
const KERNEL = ['kernel'];
const CORE = ['domain', 'signing', 'rendering'];
const ADAPTERS = ['database', 'dns', 'queues', 'smtp', 'reports', 'webhooks', 'platform'];
const DOORS = ['use-cases', 'auth'];

/** What each lib may import. Rooms of the same layer do not import each other. @type {Record<string, string[]>} */
export const LIBS = {
  kernel: [],
  ...each(CORE, KERNEL),
  ...each(ADAPTERS, [...KERNEL, ...CORE]),
  ...each(DOORS, [...KERNEL, ...CORE, ...ADAPTERS]),
  testing: [...KERNEL, ...CORE, ...ADAPTERS],
};

/** What an app may import; never another app. */
export const APPS_MAY_IMPORT = [...KERNEL, ...CORE, ...ADAPTERS, ...DOORS];

/** Packages that only one room may import, so that they can be replaced there. @type {Record<string, string[]>} */
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

/** Forbids every lib that is not listed, and every app but the room itself. */
function floorRule({ name, room, mayImport, tests }) {
  const allowed = [...mayImport, ...(tests ? ['testing'] : [])];
  const self = room.startsWith('libs/') ? [room.slice('libs/'.length)] : [];
  const files = tests ? { path: `^${room}/.*${TEST_FILE}` } : { path: `^${room}/`, pathNot: TEST_FILE };
  return {
    name: `${name}${tests ? '-tests' : ''}`,
    comment: `${room} may import ${mayImport.join(', ') || 'no other lib'}. Move what is needed to where both may reach it.`,
    severity: 'error',
    from: files,
    to: {
      path: `^(?:libs/(?!${anyOf([...self, ...allowed, '\\b\\B'])}/)|apps/|test/|tools/)`,
      pathNot: `^${room}/`,
    },
  };
}

function floorRules() {
  const libs = Object.entries(LIBS).map(([lib, mayImport]) => ({
    name: `floor-${lib}`,
    room: `libs/${lib}`,
    mayImport,
  }));
  const apps = { name: 'floor-apps', room: 'apps/([^/]+)', mayImport: APPS_MAY_IMPORT };
  return [...libs, apps]
    .flatMap((floor) => [floorRule({ ...floor, tests: false }), floorRule({ ...floor, tests: true })])
    .map(ownAppOnly);
}

/** In a pattern for `to`, an app is replaced by the app that contains the importing file. */
function ownAppOnly(rule) {
  return { ...rule, to: { ...rule.to, pathNot: rule.to.pathNot.replace('([^/]+)', '$1') } };
}

function packageRules() {
  return Object.entries(ONLY_IN).map(([lib, packages]) => ({
    name: `only-${lib}-knows`,
    comment: `Only libs/${lib} may import these packages; ask it for what you need.`,
    severity: 'error',
    from: { path: '^(?:apps|libs)/', pathNot: `^libs/${lib}/` },
    to: { path: `(?:^|node_modules/)${anyOf(packages)}(?:/|$)` },
  }));
}

const GENERAL_RULES = [
  {
    name: 'front-door-only',
    comment: 'A lib is imported by its name, never by a path into it.',
    severity: 'error',
    from: { path: '^(apps|libs)/([^/]+)/' },
    to: { path: '^libs/[^/]+/', pathNot: ['^$1/$2/', '^libs/[^/]+/src/index\\.ts$'] },
  },
  {
    name: 'kernel-stands-alone',
    comment: 'The kernel imports no package.',
    severity: 'error',
    from: { path: '^libs/kernel/', pathNot: TEST_FILE },
    to: { path: 'node_modules' },
  },
  { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
  { name: 'no-dead-end', severity: 'error', from: {}, to: { couldNotResolve: true } },
];

/** The rules in the format of dependency-cruiser. */
export const RULES = [...floorRules(), ...packageRules(), ...GENERAL_RULES];
