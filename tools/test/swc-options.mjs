/**
 * How the sources become JavaScript in tests: nothing is checked, types are removed, decorators keep their metadata.
 *
 * @type {import('@swc/core').Options}
 */
export const SWC_OPTIONS = {
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
  module: { type: 'nodenext' },
};
