import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/** V8 makes such a function in the old generation, where it keeps all that it refers to until the whole heap is collected (docs/decisions/0049). */
const NO_LASTING_FUNCTIONS = {
  selector:
    "AssignmentExpression[left.type='MemberExpression'][right.type=/^(ArrowFunctionExpression|FunctionExpression)$/]",
  message:
    'Name the function first and assign the name: assigned where it is made, V8 keeps it, and all that it refers to, until the whole heap is collected.',
};

/** Such a spread only holds properties in fewer lines. One under a condition is how a property is left out. */
const NO_SPREAD_LITERALS = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write the properties where the literal stands that is spread.',
};

/** As of an import (no-import-type-side-effects): an empty export of the module would stay, and load it. */
const NO_EMPTY_EXPORTS = {
  selector:
    'ExportNamedDeclaration[exportKind="value"][source]:not(:has(ExportSpecifier[exportKind="value"]))',
  message: 'Write `export type { … } from`.',
};

/** Prisma joins those of one tick into one statement, and keeps a plan for each combination that ever occurs, up to a thousand plans of any size. */
const NO_JOINED_READS = {
  selector: 'CallExpression[callee.property.name=/^findUnique/]',
  message:
    'Use `findFirst`: Prisma would join this read with others of the same moment, and keep the plan of each combination.',
};

/** Scripts and the command line, which the compiler checks as JavaScript with types in comments. */
const PROGRAMS = ['tools/**/*.mjs'];

export default tseslint.config(
  { ignores: ['**/dist/**', '**/generated/**', 'node_modules/**', '.nx/**', '.posthorn/**', '.cache/**'] },
  ...tseslint.configs.recommendedTypeChecked.map((config) => ({
    ...config,
    files: ['apps/**/*.ts', 'libs/**/*.ts', 'test/**/*.ts', 'tools/**/*.ts'],
  })),
  {
    files: ['apps/**/*.ts', 'libs/**/*.ts', 'test/**/*.ts', 'tools/**/*.ts'],
    languageOptions: {
      parserOptions: { project: './tsconfig.tests.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      // Else an empty import of the module stays, and loads it.
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-explicit-any': 'error',
      'eqeqeq': 'error',
      'no-duplicate-imports': 'error',
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        NO_LASTING_FUNCTIONS,
        NO_SPREAD_LITERALS,
        NO_EMPTY_EXPORTS,
        NO_JOINED_READS,
      ],
    },
  },
  ...tseslint.configs.recommendedTypeChecked.map((config) => ({ ...config, files: PROGRAMS })),
  {
    files: PROGRAMS,
    languageOptions: {
      parserOptions: { project: './tools/tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // What has no type here may be anything (noImplicitAny is off).
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'eqeqeq': 'error',
    },
  },
  {
    // What callers, mails and name servers send is read by expressions whose time grows with its length, not with the square of it.
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: ['**/*.spec.ts', '**/*.fixture.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    files: ['**/*.spec.ts', 'test/**/*.ts', 'libs/testing/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'no-restricted-syntax': ['error', NO_SPREAD_LITERALS, NO_EMPTY_EXPORTS],
    },
  },
);
