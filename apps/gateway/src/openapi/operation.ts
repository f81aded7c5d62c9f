import { hasScope, mayManage, ROLE_NAMES } from '@posthorn/domain';
import type { Access } from '@posthorn/auth';
import { PATH_IDS, type PathIdName } from '../validation/path-ids.ts';
import { idOf } from './answer-schemas.ts';
import { schemaOfField } from './class-schemas.ts';
import { describedFields } from './described-fields.ts';
import type { DescribedPathPart, RouteDescription } from './describes.ts';
import type { Part } from './document-types.ts';
import { requestExamples } from './examples.ts';
import { IDEMPOTENCY_KEY_PARAMETER, IF_NONE_MATCH_PARAMETER } from './headers.ts';
import { classesOf, type DescribedClass, type DescribedUnion, referenceTo } from './json-schema.ts';
import { isTagged, responsesOf } from './responses.ts';
import { partsOf, type Route, takesNoBody } from './routes.ts';

export const SECURITY_SCHEME = 'apiKey';

/** The operation object of a route. */
export function operationOf(route: Route, publicUrl: string): Part {
  const { description, access } = route;
  const parameters = parametersOf(route);
  const { body } = description;
  return {
    operationId: description.name,
    tags: [description.tag],
    summary: description.summary,
    description: [description.description, bodySentence(route), accessSentence(access)]
      .filter(Boolean)
      .join('\n\n'),
    security: access === undefined ? [] : [{ [SECURITY_SCHEME]: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestBodyOf(body, description) }),
    responses: responsesOf(route, publicUrl),
  };
}

function bodySentence(route: Route): string {
  return takesNoBody(route) ? 'Needs no body; an empty one and `{}` are accepted.' : '';
}

function accessSentence(access: Access | undefined): string {
  if (access === undefined) return 'Needs no key.';
  const roles = ROLE_NAMES.filter(
    (role) =>
      (access.scope === undefined || hasScope(role, access.scope)) && (!access.manages || mayManage(role)),
  );
  if (roles.length === ROLE_NAMES.length) return 'Any key may make this call.';
  return `Needs a key with the role ${roles.map((role) => `\`${role}\``).join(' or ')}.`;
}

function requestBodyOf(
  body: DescribedClass | DescribedUnion,
  { bodyExamples, bodyIsOptional }: Pick<RouteDescription, 'bodyExamples' | 'bodyIsOptional'>,
): Part {
  const schema = 'classes' in body ? body.schema : referenceTo(body);
  const examples =
    bodyExamples ??
    Object.fromEntries(classesOf(body).flatMap((one) => Object.entries(requestExamples(one))));
  return {
    required: bodyIsOptional !== true,
    content: { 'application/json': { schema, examples } },
  };
}

function parametersOf({ path, description }: Route): Part[] {
  return [
    ...partsOf(path).map((name) => pathParameter(name, description.path?.[name] ?? pathIdPart(name))),
    ...(description.query === undefined ? [] : queryParameters(description.query)),
    ...(description.idempotent ? [IDEMPOTENCY_KEY_PARAMETER] : []),
    ...(isTagged(description.answer) ? [IF_NONE_MATCH_PARAMETER] : []),
  ];
}

function pathParameter(name: string, part: DescribedPathPart): Part {
  const { sentence, schema, example } = part;
  return { name, in: 'path', required: true, description: sentence, schema, example };
}

function pathIdPart(name: string): DescribedPathPart {
  if (!Object.hasOwn(PATH_IDS, name)) {
    throw new Error(`the part {${name}} of a path is not in PATH_IDS and is not described by its route`);
  }
  const { prefix, noun } = PATH_IDS[name as PathIdName];
  const schema = idOf(prefix);
  const [example] = schema['examples'] as [string];
  return { sentence: `The id of the ${noun}.`, schema, example };
}

function queryParameters(queryClass: DescribedClass): Part[] {
  return describedFields(queryClass).map((field) => {
    const { description, examples: _, ...schema } = schemaOfField(field);
    return {
      name: field.field,
      in: 'query',
      required: field.isRequired,
      description,
      schema,
      ...(field.example !== undefined && { example: field.example }),
    };
  });
}
