import { RELEASE } from '@posthorn/kernel';
import { referredSchemas } from './class-schemas.ts';
import { type OpenApiDocument, type Part } from './document-types.ts';
import { ANSWER_HEADERS } from './headers.ts';
import { operationOf, SECURITY_SCHEME } from './operation.ts';
import { PREFACE } from './preface.ts';
import { commonResponses } from './responses.ts';
import { type Route } from './routes.ts';
import { TAGS } from './tags.ts';

/**
 * The document of the interface (OpenAPI 3.1), made of what the routes say about themselves.
 *
 * @param publicUrl the address of the gateway as callers see it, without a slash at its end
 * @throws Error when two routes have the same name, or one is not described well enough
 */
export function documentOf(routes: readonly Route[], publicUrl: string): OpenApiDocument {
  refuseSameNames(routes);
  const tags = Object.entries(TAGS).filter(([tag]) =>
    routes.some(({ description }) => description.tag === tag),
  );
  const paths = pathsOf(routes, publicUrl);
  const responses = commonResponses(publicUrl);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Posthorn',
      version: RELEASE,
      summary: 'Transactional email.',
      description: PREFACE,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    tags: tags.map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: { [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      headers: ANSWER_HEADERS,
      responses,
      schemas: referredSchemas([paths, responses]),
    },
  };
}

function pathsOf(routes: readonly Route[], publicUrl: string): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Part>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method] = operationOf(route, publicUrl);
  }
  return paths;
}

function refuseSameNames(routes: readonly Route[]): void {
  const byName = Map.groupBy(routes, ({ description }) => description.name);
  for (const [name, { length }] of byName) {
    if (length > 1) throw new Error(`${length} routes are called ${name}`);
  }
}
