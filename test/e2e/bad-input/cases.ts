import { soundEmail } from '../stack.ts';

/** A request with a fault in it, and what it must be answered. */
export interface Case {
  readonly what: string;
  /** Method and path. A name in braces stands for an id: what `path` says, or what the file's stack knows. */
  readonly route: string;
  readonly path?: Readonly<Record<string, string>>;
  /** With its `?`. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown;
  /** Whose key: an EDITOR's unless it says another, or none. */
  readonly as?: 'viewer' | 'apiUser' | 'editor' | null;
  /** The refusal is that of the only item of a batch, which itself is answered 200. */
  readonly isItem?: boolean;
  readonly status: number;
  /** What the message must contain, or match: the field, as a rule. */
  readonly names: string | RegExp;
}

/** Something that is wrong wherever a kind of field is. */
export interface Fault {
  readonly what: string;
  readonly value: unknown;
  /** 400 unless it says otherwise. */
  readonly status?: number;
  /** More than that the field is named. */
  readonly says?: string | RegExp;
}

/** A field of a route that takes a kind of value. */
export interface Place {
  readonly route: string;
  /** The field as messages name it. */
  readonly field: string;
  /** The rest of the request, with this value in the field. */
  request(value: unknown): Pick<Case, 'path' | 'query' | 'headers' | 'body' | 'isItem'>;
}

/** Every fault at every place. */
export function casesOf(faults: readonly Fault[], places: readonly Place[]): Case[] {
  return places.flatMap((place) =>
    faults.map(({ what, value, status = 400, says }) => ({
      what: `\`${place.field}\`: ${what}`,
      route: place.route,
      ...place.request(value),
      status,
      names: says ?? new RegExp(`\`${place.field.replace(/[.[\]]/g, '\\$&')}(\\[\\d+\\])?[.\`]`),
    })),
  );
}

/** Texts as faults that are called what they are. */
export function texts(...values: readonly string[]): Fault[] {
  return [...new Set(values)].map((value) => ({ what: shown(value), value }));
}

/** What is no text at all. */
export const NO_TEXTS: readonly Fault[] = [
  { what: 'null', value: null },
  { what: 'a number', value: 42 },
  { what: 'zero', value: 0 },
  { what: 'true', value: true },
  { what: 'false', value: false },
  { what: 'an object', value: { toString: 'a@example.com' } },
  { what: 'an empty object', value: {} },
  { what: 'an array of what is no text', value: [['a@example.com'], 1] },
];

/** A field of a raw email, with nothing else wrong. */
export function inRawEmail(field: string, wrap = (value: unknown): unknown => value): Place {
  const name = field.split(/[.[]/, 1)[0]!;
  return {
    route: 'POST /v1/emails',
    field,
    request: (value) => ({ body: { ...soundEmail(), [name]: wrap(value) } }),
  };
}

/** The same field in the only item of a batch. */
export function inBatch({ field, request }: Place): Place {
  return {
    route: 'POST /v1/emails/batch',
    field,
    request: (value) => {
      const { body, ...rest } = request(value);
      return { ...rest, body: { emails: [body] }, isItem: true };
    },
  };
}

/** A field of a body that has nothing else wrong. */
export function inBody(route: string, field: string, rest: object = {}): Place {
  return { route, field, request: (value) => ({ body: { ...rest, [field]: value } }) };
}

/** A value as a title shows it. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value).replace(
    /[^ -~]/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
  return text.length > 70 ? `${text.slice(0, 60)}… (${text.length})` : text;
}
