// With --import, lets Node run the sources, as Jest does. Node itself only removes types, and the sources have more: decorators and parameter properties.
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';
import { SWC_OPTIONS } from './swc-options.mjs';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('.ts')) return nextLoad(url, context);
    const { code } = transformFileSync(fileURLToPath(url), {
      ...SWC_OPTIONS,
      swcrc: false,
      sourceMaps: 'inline',
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
