import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { HealthController } from '@posthorn/platform';
import { CONTROLLERS } from '../gateway.module.ts';
import { documentOf } from './document.ts';
import type { OpenApiDocument } from './document-types.ts';
import type { JsonSchema } from './json-schema.ts';
import { routesOf } from './routes.ts';

/** The parts of an operation that tests use. */
export interface TestedOperation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly requestBody?: { readonly required: boolean; readonly content: TestedContent };
  readonly responses: Readonly<Record<string, TestedResponse>>;
}

export interface TestedResponse {
  readonly $ref?: string;
  readonly headers?: object;
  readonly content?: TestedContent;
}

export type TestedContent = Readonly<
  Record<
    string,
    { readonly schema: JsonSchema; readonly examples: Readonly<Record<string, { readonly value: unknown }>> }
  >
>;

/** The document of all controllers. */
export const DOCUMENT: OpenApiDocument = documentOf(
  routesOf([HealthController, ...CONTROLLERS]),
  'https://mail.example.com',
);

/** The operations of the document, each with its method and path before it. */
export const OPERATIONS: [string, TestedOperation][] = Object.entries(DOCUMENT.paths).flatMap(
  ([path, operations]) =>
    Object.entries(operations).map(([method, operation]): [string, TestedOperation] => [
      `${method.toUpperCase()} ${path}`,
      operation as unknown as TestedOperation,
    ]),
);

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(DOCUMENT, 'document');

/** Compiles a schema of the document, resolving its references there. */
export function compileSchema(schema: JsonSchema): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  return ajv.compile(JSON.parse(text) as JsonSchema);
}
