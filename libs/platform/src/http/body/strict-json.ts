import { Refusal } from '@posthorn/kernel';
import { endOfString, readEscapedKeys } from '@posthorn/domain';
import { firstDuplicateKey } from './duplicate-key.ts';
import { invalidValueAt, lineAndColumn } from './invalid-value.ts';

/** The maximum nesting depth of objects and arrays. */
export const MAX_JSON_DEPTH = 64;

/**
 * The maximum number of commas and opening brackets outside of strings, which is about the number of values. Each value takes some hundred bytes:
 * 49 MiB of `{},` took more memory than a gateway has. `variables` of the maximum size have fewer.
 */
export const MAX_JSON_VALUES = 500_000;

/**
 * The maximum number of keys in all objects together, which can take far longer than other values: V8 makes a shape for each order of keys.
 * 400,000 different ones stopped a gateway for more than a second. `variables` of the maximum size have fewer than 38,000.
 */
export const MAX_JSON_KEYS = { ofBody: 50_000, ofBatch: 250_000 } as const;

/** How much of the path to a fault is shown in the refusal. */
const MAX_PATH_CHARACTERS = 200;

/** How many faults are shown of a body or an item: it can have one for each value. */
const MAX_FAULTS_SHOWN = 10;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;

/** The faults of parsed batch items. */
const faultsOfItems = new WeakMap<object, string[]>();

/** What {@link parseStrictJson} refuses in a batch item, as if the item had been sent alone; undefined: nothing. */
export function strictFaultOf(item: unknown): Refusal | undefined {
  const faults = typeof item === 'object' && item !== null ? faultsOfItems.get(item) : undefined;
  return faults && new Refusal(400, faults.join('; '));
}

/**
 * Parses JSON strictly: it refuses what parsers interpret differently or Postgres cannot store. That is: duplicate keys, `__proto__`, NUL and
 * unpaired surrogates in any string or key, numbers beyond 2^53 − 1 (RFC 7493, section 2.2: a longer id would silently change), more than 64
 * levels, and more values or keys than the memory and the time of a process that serves others allow.
 *
 * @param batch the key of an array whose items are validated separately: an invalid string, key or number in an item fails only that item,
 *   see {@link strictFaultOf}
 * @throws Refusal 400
 */
export function parseStrictJson(text: string, batch?: string): unknown {
  const maxKeys = batch === undefined ? MAX_JSON_KEYS.ofBody : MAX_JSON_KEYS.ofBatch;
  const { keys: keysInText, hasEscapedKey } = scan(text, maxKeys);
  let value = parse(text);
  if (hasEscapedKey) value = readEscapedKeys(text);
  const walk = new Walk(text.includes('\\u'), batch);
  walk.visit(value);
  // The parser keeps the last of duplicate keys: if the value has fewer keys than the text, there are duplicates.
  if (walk.keys !== keysInText) {
    throw new Refusal(
      400,
      `The body has the key \`${firstDuplicateKey(text)}\` twice in one object; send it once`,
    );
  }
  if (walk.faults.length > 0) throw new Refusal(400, walk.faults.join('; '));
  return value;
}

/**
 * Counts the colons outside of strings, which are the keys if the text is valid, and limits them, the depth and the number of values. Ends at
 * once where there are more colons than values, or more strings than both, which is never valid: the parser reports it.
 */
function scan(text: string, maxKeys: number): { keys: number; hasEscapedKey: boolean } {
  let [keys, values, strings, depth, stringStart, hasEscapedKey] = [0, 0, 0, 0, 0, false];
  const hasEscapes = text.includes('\\');
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) {
      stringStart = i;
      i = endOfString(text, i);
      if (i < 0 || ++strings > keys + values + 1) break;
    } else if (char === COLON) {
      if (++keys > values) break;
      if (keys > maxKeys) throw tooMany(maxKeys, 'keys');
      hasEscapedKey ||= hasEscapes && text.slice(stringStart, i).includes('\\');
      // Avoids quadratic time for a text of colons only, each of which would search everything before it.
      stringStart = i;
    }
    // `{` and `[`, `}` and `]` differ in one bit.
    else if ((char | 0x20) === 0x7b) {
      if (++values > MAX_JSON_VALUES) throw tooMany(MAX_JSON_VALUES, 'values');
      if (++depth > MAX_JSON_DEPTH) throw tooDeep();
    } else if ((char | 0x20) === 0x7d) depth--;
    else if (char === COMMA && ++values > MAX_JSON_VALUES) throw tooMany(MAX_JSON_VALUES, 'values');
  }
  return { keys, hasEscapedKey };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, `The body is not valid JSON${locationOf(error as Error, text)}`);
  }
}

/** The engine's own message would contain parts of the body. */
function locationOf({ message }: Error, text: string): string {
  if (message.startsWith('Unexpected end')) return ': it ends too early';
  const [, line, column] = /line (\d+) column (\d+)/.exec(message) ?? [
    '',
    ...lineAndColumn(text, invalidValueAt(text)),
  ];
  return `: look at line ${line}, column ${column}`;
}

/** Visits a parsed value once, counts its keys and validates its strings, keys and numbers. */
class Walk {
  keys = 0;
  /** What is wrong outside of batch items. */
  readonly faults: string[] = [];
  /** The keys and indexes that lead to the current value; joined only for a refusal. */
  private readonly way: (string | number)[] = [];
  /** The current item of a batch. */
  private item: { readonly value: unknown } | undefined;

  /**
   * @param hasEscapes without `\u` in the text, valid UTF-8 can contain neither NUL nor an unpaired surrogate
   * @param batch the key of an array whose items are validated separately
   */
  constructor(
    private readonly hasEscapes: boolean,
    private readonly batch: string | undefined,
  ) {}

  visit(value: unknown): void {
    if (typeof value === 'string') this.judgeText(value);
    else if (typeof value === 'number') this.judgeNumber(value);
    else if (Array.isArray(value)) this.visitArray(value);
    else if (value !== null && typeof value === 'object') this.visitObject(value as Record<string, unknown>);
  }

  private visitArray(values: readonly unknown[]): void {
    const isBatch = this.way.length === 1 && this.way[0] === this.batch;
    for (let at = 0; at < values.length; at++) {
      if (isBatch) this.item = { value: values[at] };
      this.visitPart(at, values[at]);
    }
    if (isBatch) this.item = undefined;
  }

  private visitPart(nameOrPlace: string | number, value: unknown): void {
    this.way.push(nameOrPlace);
    this.visit(value);
    this.way.pop();
  }

  private visitObject(value: Record<string, unknown>): void {
    for (const key of Object.keys(value)) {
      this.keys++;
      if (key === '__proto__') this.refuse('has the key `__proto__`; remove it');
      this.judgeText(key);
      this.visitPart(key, value[key]);
    }
  }

  private judgeText(text: string): void {
    if (!this.hasEscapes) return;
    if (text.includes('\0')) this.refuse('has the character U+0000; remove it');
    if (!text.isWellFormed())
      this.refuse('has half of a surrogate pair (U+D800 to U+DFFF); send both or none');
  }

  private judgeNumber(value: number): void {
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER)
      this.refuse('is a number too large to hold exactly; send it as text');
  }

  /** Records a fault, unless it is in a batch item that is not an object, which is refused later anyway. */
  private refuse(what: string): void {
    if (this.item === undefined) record(this.faults, this.way, what);
    else {
      const { value } = this.item;
      if (typeof value !== 'object' || value === null) return;
      const faults = faultsOfItems.get(value) ?? [];
      faultsOfItems.set(value, faults);
      record(faults, this.way.slice(2), what);
    }
  }
}

function record(faults: string[], way: readonly (string | number)[], what: string): void {
  if (faults.length === MAX_FAULTS_SHOWN) return;
  const path = way.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  const shown = path.replace(/^\./, '').slice(0, MAX_PATH_CHARACTERS).toWellFormed().replaceAll('\0', '');
  faults.push(`${shown === '' ? 'The body' : `\`${shown}\``} ${what}`);
}

function tooMany(max: number, what: string): Refusal {
  const grouped = max.toLocaleString('en-US');
  return new Refusal(400, `The body has more than ${grouped} ${what}; spread them over several requests`);
}

function tooDeep(): Refusal {
  return new Refusal(400, `The body is nested more than ${MAX_JSON_DEPTH} levels deep; flatten it`);
}
