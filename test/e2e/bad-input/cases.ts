import { type Role, validEmail } from '../stack.ts';

/** An invalid request, and how it must be refused. */
export interface Case {
  readonly what: string;
  /** Method and path. A name in braces is replaced by its value in `path`, or by an id that the file's `RefusingStack` knows. */
  readonly route: string;
  readonly path?: Readonly<Record<string, string>>;
  /** The query string, with its `?`. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Strings and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  /** The role of the key; null: no key. Default: editor. */
  readonly as?: Role | null;
  /** Whether the refusal is that of the only item of a batch, which itself is answered 200. */
  readonly isItem?: boolean;
  readonly status: number;
  /** What the message must contain or match: usually the field's name. */
  readonly names: string | RegExp;
}

/** An invalid value for a kind of field. */
export interface Fault {
  readonly what: string;
  readonly value: unknown;
  /** The expected status. Default: 400. */
  readonly status?: number;
  /** What the message must contain or match. Default: the name of the field. */
  readonly says?: string | RegExp;
}

/** A field of a route's request, to be filled with invalid values. */
export interface RequestField {
  readonly route: string;
  /** The field's name, as in error messages. */
  readonly field: string;
  /** A request that is valid except for this value in the field. */
  request(value: unknown): Pick<Case, 'path' | 'query' | 'headers' | 'body' | 'isItem'>;
}

/** A case for each fault in each field. */
export function casesOf(faults: readonly Fault[], fields: readonly RequestField[]): Case[] {
  return fields.flatMap((field) =>
    faults.map(({ what, value, status = 400, says }) => ({
      what: `\`${field.field}\`: ${what}`,
      route: field.route,
      ...field.request(value),
      status,
      names: says ?? new RegExp(`\`${field.field.replace(/[.[\]]/g, '\\$&')}(\\[\\d+\\])?[.\`]`),
    })),
  );
}

/** Strings as faults, each described by its own text. */
export function texts(...values: readonly string[]): Fault[] {
  return [...new Set(values)].map((value) => ({ what: shown(value), value }));
}

/** Values that are not strings. */
export const NON_STRINGS: readonly Fault[] = [
  { what: 'null', value: null },
  { what: 'a number', value: 42 },
  { what: 'zero', value: 0 },
  { what: 'true', value: true },
  { what: 'false', value: false },
  { what: 'an object', value: { toString: 'a@example.com' } },
  { what: 'an empty object', value: {} },
  { what: 'an array of what is no text', value: [['a@example.com'], 1] },
];

/** A field of an otherwise valid raw email. */
export function inRawEmail(field: string, wrap = (value: unknown): unknown => value): RequestField {
  const name = field.split(/[.[]/, 1)[0]!;
  return {
    route: 'POST /v1/emails',
    field,
    request: (value) => ({ body: { ...validEmail(), [name]: wrap(value) } }),
  };
}

/** The same field in the only item of a batch. */
export function inBatch({ field, request }: RequestField): RequestField {
  return {
    route: 'POST /v1/emails/batch',
    field,
    request: (value) => {
      const { body, ...rest } = request(value);
      return { ...rest, body: { emails: [body] }, isItem: true };
    },
  };
}

/** A field of an otherwise valid body. */
export function inBody(route: string, field: string, rest: object = {}): RequestField {
  return { route, field, request: (value) => ({ body: { ...rest, [field]: value } }) };
}

/** A value in the form that test titles show it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value).replace(
    /[^ -~]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
  return text.length > 70 ? `${text.slice(0, 60)}… (${text.length})` : text;
}
