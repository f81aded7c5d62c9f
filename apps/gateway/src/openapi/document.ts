import { RELEASE } from '@posthorn/kernel';
import { referredSchemas } from './class-schemas.ts';
import { DELIVERY_PARAMETERS } from './delivery-parameters.ts';
import type { OpenApiDocument, Part } from './document-types.ts';
import { eventSchemas, eventWebhooks } from './event-webhooks.ts';
import { ANSWER_HEADERS } from './headers.ts';
import { operationOf, SECURITY_SCHEME } from './operation.ts';
import { PREFACE } from './preface.ts';
import { commonResponses } from './responses.ts';
import type { Route } from './routes.ts';
import { TAGS } from './tags.ts';

/**
 * Generates the OpenAPI document (3.1) from the descriptions of the routes.
 *
 * @param publicUrl the public URL of the gateway, without a trailing slash
 * @throws Error when two routes have the same name, or the description of one is incomplete
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
    webhooks: eventWebhooks(),
    components: {
      securitySchemes: { [SECURITY_SCHEME]: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      headers: ANSWER_HEADERS,
      parameters: DELIVERY_PARAMETERS,
      responses,
      schemas: schemasOf([paths, responses, DELIVERY_PARAMETERS]),
    },
  };
}

/** The schemas that the parts of the document refer to, and those of events. @throws Error for two of one name */
function schemasOf(parts: unknown): Part {
  const ofEvents = eventSchemas();
  const referred = referredSchemas([parts, ofEvents]);
  const twice = Object.keys(ofEvents).filter((name) => Object.hasOwn(referred, name));
  if (twice.length > 0) throw new Error(`two schemas of the interface are called ${twice.join(', ')}`);
  return { ...referred, ...ofEvents };
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
