import { applyDecorators, HttpCode, SetMetadata, UseGuards } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { SECRET_PREFIXES } from '@posthorn/signing';
import { UnexpectedInputGuard } from '../validation/unexpected-input.guard.ts';
import type { DescribedClass, DescribedUnion, JsonSchema } from './json-schema.ts';
import type { Tag } from './tags.ts';

const DESCRIPTION = 'posthorn:description';

/** Example refusals of a route, by a short name such as `Sender not verified`. */
export type Refusals = Readonly<Record<string, Refusal>>;

/** The refusal thrown by a call, so that examples cannot differ from real refusals. @throws Error when it throws none */
export function refusalBy(call: () => unknown): Refusal {
  try {
    call();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('the call that describes a refusal does not refuse');
}

/** A realistic example of a body or an answer. */
export interface DescribedExample {
  readonly summary: string;
  readonly value: object;
}

/** An answer without an answer class. */
export interface OtherContent {
  /** Or a range of types. */
  readonly contentType: string;
  /** Default: text. */
  readonly schema?: JsonSchema;
  readonly example: unknown;
  /** The answer has an `ETag`, and conditional requests are answered with 304. */
  readonly isTagged?: true;
}

/** A page for people. */
export const HTML_PAGE: OtherContent = { contentType: 'text/html', example: '<!doctype html>…' };

/** A redirect: 302, without content. */
export interface Redirect {
  /** An example of `Location`. */
  readonly redirectsTo: string;
}

/** A path parameter that is no id. */
export interface DescribedPathPart {
  readonly sentence: string;
  readonly schema: JsonSchema;
  readonly example: string;
}

/** Describes the path parameter that is the secret of a mail's link. */
export function linkToken(kind: keyof typeof SECRET_PREFIXES): DescribedPathPart {
  return {
    sentence: 'The secret from the mail.',
    schema: { type: 'string' },
    example: `${SECRET_PREFIXES[kind]}3VbTq8Zk1mNwY7rLcX5dHsJ2fGpA9eUoKx9QaB`,
  };
}

/** The description of a route for the OpenAPI document, beside what follows from its guards. */
export interface RouteDescription {
  /** The `operationId`: a verb and its object, in camel case, unique in the document. Generated clients name functions by it. */
  readonly name: string;
  readonly tag: Tag;
  /** A few words, without a full stop. */
  readonly summary: string;
  /** Details, in Markdown. */
  readonly description?: string;
  /** The request class of the body, or a choice of them. Without one, routes that require a key refuse any body. */
  readonly body?: DescribedClass | DescribedUnion;
  /** Default: the body is required. */
  readonly bodyIsOptional?: true;
  /** By name. Default: one per request class, generated from the examples of its fields. */
  readonly bodyExamples?: Readonly<Record<string, DescribedExample>>;
  /** The request class of the query. Without one, routes that require a key refuse any query. */
  readonly query?: DescribedClass;
  /** The path parameters that are not in `PATH_IDS`, by name. */
  readonly path?: Readonly<Record<string, DescribedPathPart>>;
  /** The class of the answer with status 200, or another kind of answer. */
  readonly answer: DescribedClass | OtherContent | Redirect;
  /** Values that replace those of the answer's example, by path, such as `email.status`. */
  readonly exampleOverrides?: Readonly<Record<string, unknown>>;
  /** Whether the route supports the header `Idempotency-Key`. */
  readonly idempotent?: true;
  /**
   * The refusals of the route, beside those that follow from the rest: 400, 401, 403 (role, workspace), 429 and 503 where it requires a
   * key; 413 and 415 where it has a body; 400, 413 and 415 for POST without a body; 404 where its path has an id.
   */
  readonly refuses?: Refusals;
}

/**
 * Describes a route for the OpenAPI document, and makes it behave so: it answers 200 unless it sets another status, and refuses a query and a
 * body that it does not describe. Every route has one, or the app does not start.
 */
export const Describes = (description: RouteDescription): MethodDecorator => {
  const takes = { query: description.query !== undefined, body: description.body !== undefined };
  return applyDecorators(
    SetMetadata(DESCRIPTION, description),
    HttpCode(200),
    UseGuards(new UnexpectedInputGuard(takes)),
  );
};

/** The description that `@Describes` has attached to a handler. */
export function descriptionOf(handler: object): RouteDescription | undefined {
  return Reflect.getMetadata(DESCRIPTION, handler) as RouteDescription | undefined;
}
