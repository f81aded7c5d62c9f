import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { closedSchema } from '@posthorn/testing';
import type { TestedOperation, TestedResponse } from '../../apps/gateway/src/openapi/document.fixture.ts';
import type { Answer } from './api.ts';

/** The parts of an OpenAPI document that say how routes answer. */
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, TestedOperation>>>>;
  readonly components: { readonly responses: Readonly<Record<string, TestedResponse>> };
}

/** A route of the document. */
interface Route {
  readonly method: string;
  readonly path: string;
  readonly responses: TestedOperation['responses'];
}

/** Answered before a route is found, so none describes them: a method that the path does not have, and headers that are too large. */
const OF_NO_ROUTE = new Set([405, 431]);

/** Headers that not every answer has: of a replay, and of limits, which most tests turn off. */
const NOT_ALWAYS = new Set(['Idempotent-Replayed', 'RateLimit', 'RateLimit-Policy']);

/** NUL or half of a surrogate pair in JSON: many parsers refuse the whole answer for one, and databases cannot store it. */
const UNREADABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function parametersIn({ path }: Route): number {
  return path.split('{').length - 1;
}

/** How the routes of a gateway answer, as the OpenAPI document that it serves describes it. */
class DescribedAnswers {
  /** The routes with patterns of their paths; those with fewer parameters first, since `/v1/emails/batch` is no email. */
  readonly #patterns: { readonly route: Route; readonly pattern: RegExp }[];
  /** The unit tests of the document validate its schemas. */
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateFormats: false,
    validateSchema: false,
  });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(private readonly document: Document) {
    this.#ajv.addSchema(closedSchema(document) as object, 'document');
    this.#patterns = Object.entries(document.paths)
      .flatMap(([path, operations]) =>
        Object.entries(operations).map(([method, { responses }]) => ({
          route: { method: method.toUpperCase(), path, responses },
          pattern: patternOf(path),
        })),
      )
      .sort((one, other) => parametersIn(one.route) - parametersIn(other.route));
  }

  /**
   * Expects an answer to be one that the document describes: its status, its headers, its type and every field of its JSON. Paths without a
   * route pass.
   *
   * @throws with the differences
   */
  expect(method: string, pathAndQuery: string, answer: Answer): void {
    if (OF_NO_ROUTE.has(answer.status)) return;
    const [path = ''] = pathAndQuery.split('?');
    const found = this.#patterns.find(({ route, pattern }) => route.method === method && pattern.test(path));
    const faults = found === undefined ? [] : this.#faultsOf(found.route, answer);
    if (faults.length > 0)
      throw new Error(
        `${method} ${path} was not answered as the OpenAPI document says: ${JSON.stringify(faults)}`,
      );
  }

  /** How an answer differs from what the document describes; empty if it does not. */
  #faultsOf(route: Route, answer: Answer): unknown[] {
    const { status } = answer;
    const named = route.responses[status];
    const shared = named?.$ref?.slice(1);
    const described = shared === undefined ? named : this.document.components.responses[nameIn(shared)];
    if (described === undefined) return [`${status} is not described: ${answer.text.slice(0, 500)}`];
    const { headers = {}, content = {} } = described;
    const missing = Object.keys(headers).filter((name) => !NOT_ALWAYS.has(name) && !answer.headers.has(name));
    if (missing.length > 0) return [`${status} has no ${missing.join(', ')}`];
    const type = answer.headers.get('content-type')?.split(';')[0];
    if (type === undefined) return Object.keys(content).length > 0 ? [`${status} has no content`] : [];
    if (!(type in content) && !('*/*' in content)) return [`${status} is not described as ${type}`];
    if (type !== 'application/json') return [];
    if (UNREADABLE.test(answer.text)) return [`not every parser reads ${answer.text.slice(0, 500)}`];
    const place = shared ?? `/paths/${pointed(route.path)}/${route.method.toLowerCase()}/responses/${status}`;
    const validate = this.#validatorOf(`document#${place}/content/${pointed(type)}/schema`);
    return validate(JSON.parse(answer.text)) ? [] : [...(validate.errors ?? []), answer.text.slice(0, 2_000)];
  }

  #validatorOf($ref: string): ValidateFunction {
    const known = this.#validators.get($ref) ?? this.#ajv.compile({ $ref });
    this.#validators.set($ref, known);
    return known;
  }
}

/** Escapes a name for a JSON pointer in a URI fragment (RFC 6901, section 6). */
function pointed(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function nameIn(pointer: string): string {
  return pointer.split('/').at(-1)!;
}

let described: Promise<DescribedAnswers> | undefined;

/**
 * What the gateways of this file describe, read from the first that is called: to make the document here, each file would have to load the gateway.
 *
 * @throws when the gateway does not answer
 */
export async function describedAnswers(url: string): Promise<DescribedAnswers> {
  described ??= fetch(`${url}/openapi.json`)
    .then(async (answer) => new DescribedAnswers((await answer.json()) as Document))
    .catch((error: unknown) => {
      described = undefined;
      throw error;
    });
  return described;
}
