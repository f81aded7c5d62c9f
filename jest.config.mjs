import { SWC_OPTIONS } from './tools/test/swc-options.mjs';

/**
 * Three suites in one configuration: `unit` needs nothing but Node; `integration` and `e2e` need the Postgres and
 * Redis that `npm test` starts.
 */
const project = (displayName, testMatch, extra = {}) => ({
  displayName,
  testMatch,
  testEnvironment: '<rootDir>/tools/test/environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  // Jest adds `import` or `require` itself; named here, `import` would hand ES modules to CommonJS packages.
  testEnvironmentOptions: { customExportConditions: ['@posthorn/source', 'node', 'node-addons'] },
  transform: {
    '^.+\\.ts$': ['@swc/jest', SWC_OPTIONS],
  },
  transformIgnorePatterns: ['/node_modules/', '/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/.posthorn', '<rootDir>/.nx', '<rootDir>/.*/dist/'],
  ...extra,
});

export default {
  // Far longer than any takes here: a test that fails because its machine was slow says nothing of Posthorn.
  testTimeout: 300_000,
  // A worker keeps something of each file that it has run: after all of them it would do little but collect its garbage, or run out of memory.
  workerIdleMemoryLimit: '1GB',
  // So long a busy machine, whose disk may stand still, may need to end what is ended.
  openHandlesTimeout: 60_000,
  // With nothing open, a worker still takes up to a second to give its memory back and to write what it has compiled.
  workerGracefulExitTimeout: 10_000,
  projects: [
    project('unit', ['<rootDir>/{apps,libs}/*/src/**/*.spec.ts', '<rootDir>/tools/**/*.spec.ts'], {
      testPathIgnorePatterns: ['\\.integration\\.spec\\.ts$', '/node_modules/'],
    }),
    project('integration', ['<rootDir>/{apps,libs}/*/src/**/*.integration.spec.ts']),
    project('e2e', ['<rootDir>/test/{e2e,chaos}/**/*.spec.ts']),
  ],
};
