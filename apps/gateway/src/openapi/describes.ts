import { applyDecorators, SetMetadata } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { TakesNoQuery } from '../validation/takes-no-query.ts';
import type { DescribedClass, JsonSchema } from './json-schema.ts';
import type { Tag } from './tags.ts';

const DESCRIPTION = 'posthorn:description';

/** The ways in which a route refuses: an example of each, by a name of a few words, such as `Sender not verified`. */
export type Refusals = Readonly<Record<string, Refusal>>;

/** The refusal that a call throws: an example made so cannot differ from what is really said. @throws Error when it throws none */
export function refusalBy(call: () => unknown): Refusal {
  try {
    call();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('the call that describes a refusal does not refuse');
}

/** A body or an answer for the document, as somebody would really send or get it. */
export interface DescribedExample {
  readonly summary: string;
  readonly value: object;
}

/** An answer that is of no answer class. */
export interface OtherContent {
  readonly contentType: string;
  /** Default: text. */
  readonly schema?: JsonSchema;
  readonly example: unknown;
  /** The answer has an `ETag`, and one that the caller knows already is answered 304. */
  readonly isTagged?: true;
}

/** A page for people. */
export const HTML_PAGE: OtherContent = { contentType: 'text/html', example: '<!doctype html>…' };

/** An answer that leads elsewhere: 302, without content. */
export interface Redirect {
  /** An example of the place. */
  readonly redirectsTo: string;
}

/** A part of the path that is no id. */
export interface DescribedPathPart {
  readonly sentence: string;
  readonly schema: JsonSchema;
  readonly example: string;
}

/** What the document of the interface says about a route beside what its guards say. */
export interface RouteDescription {
  /** A verb and its object, in camel case, unique in the document: clients make the names of their functions of it. */
  readonly name: string;
  readonly tag: Tag;
  /** A few words, without a full stop. */
  readonly summary: string;
  /** What is to be known beyond the summary, in Markdown. */
  readonly description?: string;
  /** The request class of the body, or several of which the body is one. */
  readonly body?: DescribedClass | readonly DescribedClass[];
  /** Whether the call can do without its body. Default: it cannot. */
  readonly bodyIsOptional?: true;
  /** By name. Default: one for each request class, made of the examples of its fields. */
  readonly bodyExamples?: Readonly<Record<string, DescribedExample>>;
  /** The request class of the query. Without one, a query is refused where the route asks for a key. */
  readonly query?: DescribedClass;
  /** The parts of the path that are not in `PATH_IDS`, by name. */
  readonly path?: Readonly<Record<string, DescribedPathPart>>;
  /** The class of the answer with status 200, or what is answered in its place. */
  readonly answer: DescribedClass | OtherContent | Redirect;
  /** What the example of the answer shows in place of the examples of its fields, by path, such as `email.status`. */
  readonly shows?: Readonly<Record<string, unknown>>;
  /** By name. Default: one, made of the examples of the answer's fields. */
  readonly answerExamples?: Readonly<Record<string, DescribedExample>>;
  /** Whether the header `Idempotency-Key` is heard. */
  readonly idempotent?: true;
  /**
   * What it refuses with, beside what follows from the rest: 400, 401, 403 (role, workspace), 429 and 503 where it asks for a
   * key, 413 and 415 where it has a body, all three where callers post without one, 404 where its
   * path has an id.
   */
  readonly refuses?: Refusals;
}

/** Describes a route for the document of the interface; every route has one, or the app does not start. */
export const Describes = (description: RouteDescription): MethodDecorator =>
  applyDecorators(
    SetMetadata(DESCRIPTION, description),
    ...(description.query === undefined ? [TakesNoQuery()] : []),
  );

/** What `@Describes` says about a handler. */
export function descriptionOf(handler: object): RouteDescription | undefined {
  return Reflect.getMetadata(DESCRIPTION, handler) as RouteDescription | undefined;
}
