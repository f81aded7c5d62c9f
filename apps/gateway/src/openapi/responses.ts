import { REASON_PHRASES, Refusal } from '@posthorn/kernel';
import { answerOf } from '@posthorn/platform';
import { answerExamples } from './examples.ts';
import type { DescribedExample, DescribedRefusal, OtherContent, Redirect } from './describes.ts';
import type { Part } from './document-types.ts';
import { type AnswerHeader, answerHeaders } from './headers.ts';
import { type DescribedClass, referenceTo } from './json-schema.ts';
import { COMMON_REFUSALS, refusalsOf } from './refusals.ts';
import type { Route } from './routes.ts';
import { ErrorAnswer } from './service.answers.ts';

const RETRIED = new Set([429, 503]);
const HEADERS_OF_ALL: readonly AnswerHeader[] = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'];

/** All answers of a route, by status. */
export function responsesOf(route: Route, publicUrl: string): Part {
  const byStatus = Map.groupBy(refusalsOf(route), ({ status }) => status);
  const refusals = [...byStatus].sort(([a], [b]) => a - b);
  return {
    ...success(route),
    ...Object.fromEntries(
      refusals.map(([status, group]) => [status, refusalResponse(status, group, publicUrl)]),
    ),
  };
}

/** The answers that many routes share, for the components of the document. */
export function commonResponses(publicUrl: string): Part {
  const byStatus = Map.groupBy(COMMON_REFUSALS, ({ status }) => status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [nameOfCommon(group)!, responseOf(status, group, publicUrl)]),
  );
}

function refusalResponse(
  status: DescribedRefusal['status'],
  group: readonly DescribedRefusal[],
  publicUrl: string,
): Part {
  const common = nameOfCommon(group);
  return common === undefined
    ? responseOf(status, group, publicUrl)
    : { $ref: `#/components/responses/${common}` };
}

/** The name of an answer that consists of shared refusals alone. */
function nameOfCommon(group: readonly DescribedRefusal[]): string | undefined {
  if (!group.every((refusal) => COMMON_REFUSALS.includes(refusal))) return undefined;
  return REASON_PHRASES[group[0]!.status].replaceAll(' ', '');
}

/** The answer to what is not refused, by its status. */
function success({ description }: Route): Part {
  const { answer, idempotent } = description;
  if ('redirectsTo' in answer) return { 302: redirect(answer) };
  const headers: AnswerHeader[] = [
    ...HEADERS_OF_ALL,
    ...(idempotent ? (['Idempotent-Replayed'] as const) : []),
  ];
  const content = contentOf(answer, description);
  return { 200: { description: 'Done', headers: answerHeaders(headers), content } };
}

function redirect({ redirectsTo }: Redirect): Part {
  const headers = answerHeaders(HEADERS_OF_ALL);
  const schema = { type: 'string', format: 'uri' };
  const location = { description: 'Where it leads.', schema, example: redirectsTo };
  return { description: 'Leads on', headers: { ...headers, Location: location } };
}

function contentOf(
  answer: DescribedClass | OtherContent,
  { answerExamples: given, shows }: Route['description'],
): Part {
  if (typeof answer === 'function') {
    const examples: Record<string, DescribedExample> = { ...(given ?? answerExamples(answer, shows)) };
    return { 'application/json': { schema: referenceTo(answer), examples } };
  }
  const { contentType, schema = { type: 'string' }, example } = answer;
  return { [contentType]: { schema, examples: { answer: { value: example } } } };
}

function responseOf(
  status: DescribedRefusal['status'],
  group: readonly DescribedRefusal[],
  publicUrl: string,
): Part {
  const headers: AnswerHeader[] = [
    ...HEADERS_OF_ALL,
    ...(RETRIED.has(status) ? (['Retry-After'] as const) : []),
    ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
  ];
  const examples = group.map((refusal) => [
    keyOf(refusal.when),
    { summary: refusal.when, value: bodyOf(refusal, publicUrl) },
  ]);
  return {
    description: group.map(({ when }) => when).join('; '),
    headers: answerHeaders(headers),
    content: {
      'application/json': {
        schema: referenceTo(ErrorAnswer),
        examples: Object.fromEntries(examples) as Part,
      },
    },
  };
}

/** As the gateway would answer it. */
function bodyOf({ status, message, when: _, ...details }: DescribedRefusal, publicUrl: string): Part {
  return { ...answerOf(new Refusal(status, message, details), publicUrl).body };
}

function keyOf(when: string): string {
  return when.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}
