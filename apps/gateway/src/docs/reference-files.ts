import { hash } from 'node:crypto';
import { readFileSync as read } from 'node:fs';
import { createRequire } from 'node:module';
import { REFERENCE_ICON, REFERENCE_SCRIPT, REFERENCE_STYLE } from './reference-page.ts';

interface ReferenceFile {
  readonly contentType: string;
  readonly content: Buffer;
}

const require = createRequire(import.meta.url);

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** The files of the reference page by name, including those of Swagger UI's package. */
export const REFERENCE_FILES: ReadonlyMap<string, ReferenceFile> = new Map([
  [
    'swagger-ui-bundle.js',
    { contentType: SCRIPT, content: read(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')) },
  ],
  [
    'swagger-ui.css',
    { contentType: STYLE, content: read(require.resolve('swagger-ui-dist/swagger-ui.css')) },
  ],
  ['posthorn.js', { contentType: SCRIPT, content: Buffer.from(REFERENCE_SCRIPT) }],
  ['posthorn.css', { contentType: STYLE, content: Buffer.from(REFERENCE_STYLE) }],
  ['posthorn.svg', { contentType: 'image/svg+xml', content: Buffer.from(REFERENCE_ICON) }],
]);

/** A hash of all files. */
export const REFERENCE_VERSION: string = hash(
  'sha256',
  Buffer.concat([...REFERENCE_FILES.values()].map(({ content }) => content)),
).slice(0, 12);
