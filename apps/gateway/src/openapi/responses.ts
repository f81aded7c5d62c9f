import { type ErrorStatus, REASON_PHRASES, type Refusal } from '@posthorn/kernel';
import { answerOf, UNKNOWN_FAULT } from '@posthorn/platform';
import { MAIL_LINK_PATHS } from '../pages/error-page.ts';
import { answerExamples } from './examples.ts';
import { HTML_PAGE, type OtherContent, type Redirect, type Refusals } from './describes.ts';
import type { Part } from './document-types.ts';
import { type AnswerHeader, answerHeaders } from './headers.ts';
import { type DescribedClass, referenceTo } from './json-schema.ts';
import { COMMON_REFUSALS, refusalsOf } from './refusals.ts';
import type { Route } from './routes.ts';
import { ErrorAnswer } from './service.answers.ts';

const RETRIED = new Set([429, 503]);
type NamedRefusal = readonly [when: string, refusal: Refusal];

/** The name of the shared answer to whatever no route describes. */
const OTHER = 'OtherError';
const OTHER_DESCRIPTION =
  'Any other error: 404 where there is no such path, 405 (with `Allow`), 408, 431, or 500 for a fault in Posthorn';

const HEADERS_OF_ALL: readonly AnswerHeader[] = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'];

/** All answers of a route, by status. */
export function responsesOf(route: Route, publicUrl: string): Part {
  const refusals = byStatus(refusalsOf(route)).sort(([a], [b]) => a - b);
  const responseTo = MAIL_LINK_PATHS.test(route.path) ? linkRefusalResponse : refusalResponse;
  return {
    ...success(route),
    ...Object.fromEntries(refusals.map(([status, group]) => [status, responseTo(status, group, publicUrl)])),
    ...(route.access !== undefined && { default: { $ref: `#/components/responses/${OTHER}` } }),
  };
}

/** The shared answers, for the components of the document. */
export function commonResponses(publicUrl: string): Part {
  const common = byStatus(COMMON_REFUSALS).map(([status, group]) => [
    nameOfCommon(group)!,
    responseOf(status, group, publicUrl),
  ]);
  return { ...(Object.fromEntries(common) as Part), [OTHER]: otherErrors(publicUrl) };
}

/** The errors that no route describes, so that clients know the type of their bodies, too (G2). */
function otherErrors(publicUrl: string): Part {
  const example: NamedRefusal = ['A fault in Posthorn', UNKNOWN_FAULT];
  return { ...responseOf(500, [example], publicUrl), description: OTHER_DESCRIPTION };
}

function byStatus(refusals: Refusals): [ErrorStatus, NamedRefusal[]][] {
  return [...Map.groupBy(Object.entries(refusals), ([, { statusCode }]) => statusCode)];
}

function refusalResponse(status: ErrorStatus, group: readonly NamedRefusal[], publicUrl: string): Part {
  const common = nameOfCommon(group);
  return common === undefined
    ? responseOf(status, group, publicUrl)
    : { $ref: `#/components/responses/${common}` };
}

/** A refusal of a link of a mail, which browsers get as a page. */
function linkRefusalResponse(status: ErrorStatus, group: readonly NamedRefusal[], publicUrl: string): Part {
  const response = responseOf(status, group, publicUrl);
  return { ...response, content: { ...(response['content'] as Part), ...otherContent(HTML_PAGE) } };
}

/** The component name of an answer that consists only of shared refusals. */
function nameOfCommon(group: readonly NamedRefusal[]): string | undefined {
  if (!group.every(([when, refusal]) => COMMON_REFUSALS[when] === refusal)) return undefined;
  return REASON_PHRASES[group[0]![1].statusCode].replaceAll(' ', '');
}

/** The successful answer, by its status. */
function success({ description }: Route): Part {
  const { answer, idempotent } = description;
  if ('redirectsTo' in answer) return { 302: redirect(answer) };
  const headers: AnswerHeader[] = [
    ...HEADERS_OF_ALL,
    ...(idempotent ? (['Idempotent-Replayed'] as const) : []),
    ...(isTagged(answer) ? (['ETag'] as const) : []),
  ];
  const content = contentOf(answer, description);
  return {
    200: { description: 'Done', headers: answerHeaders(headers), content },
    ...(isTagged(answer) && { 304: { description: 'Nothing has changed', headers: answerHeaders(headers) } }),
  };
}

/** Whether the route supports conditional requests. */
export function isTagged(answer: Route['description']['answer']): boolean {
  return 'isTagged' in answer;
}

function redirect({ redirectsTo }: Redirect): Part {
  const headers = answerHeaders(HEADERS_OF_ALL);
  const schema = { type: 'string', format: 'uri' };
  const location = { description: 'Where it leads.', schema, example: redirectsTo };
  return { description: 'Leads on', headers: { ...headers, Location: location } };
}

function contentOf(answer: DescribedClass | OtherContent, { exampleOverrides }: Route['description']): Part {
  if (typeof answer === 'function') {
    const examples = answerExamples(answer, exampleOverrides);
    return { 'application/json': { schema: referenceTo(answer), examples } };
  }
  return otherContent(answer);
}

function otherContent({ contentType, schema = { type: 'string' }, example }: OtherContent): Part {
  return { [contentType]: { schema, examples: { answer: { value: example } } } };
}

function responseOf(status: ErrorStatus, group: readonly NamedRefusal[], publicUrl: string): Part {
  const headers: AnswerHeader[] = [
    ...HEADERS_OF_ALL,
    ...(RETRIED.has(status) ? (['Retry-After'] as const) : []),
    ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
  ];
  const examples = group.map(([when, refusal]) => [
    keyOf(when),
    { summary: when, value: answerOf(refusal, publicUrl).body },
  ]);
  return {
    description: group.map(([when]) => when).join('; '),
    headers: answerHeaders(headers),
    content: {
      'application/json': {
        schema: referenceTo(ErrorAnswer),
        examples: Object.fromEntries(examples) as Part,
      },
    },
  };
}

function keyOf(when: string): string {
  return when.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
