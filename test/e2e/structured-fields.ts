/** A value of a structured field: an Integer or Decimal, a String, a Token, a Byte Sequence or a Boolean. */
type BareItem = number | string | boolean | { readonly token: string } | { readonly bytes: Buffer };

export interface Item {
  readonly value: BareItem;
  readonly parameters: Readonly<Record<string, BareItem>>;
}

/**
 * Parses a List of Items (RFC 9651, section 4.2.1, without Inner Lists) strictly.
 *
 * @throws SyntaxError when the grammar does not allow the text
 */
export function parseItemList(field: string): Item[] {
  const reader = new Reader(field);
  const items: Item[] = [];
  reader.take(/ */y);
  while (!reader.isAtEnd) {
    items.push(readItem(reader));
    reader.take(/[ \t]*/y);
    if (reader.isAtEnd) break;
    reader.demand(/,[ \t]*(?=[^ \t])/y, 'a comma and another member');
  }
  return items;
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.at === this.text.length;
  }

  /** Consumes what matches at the current position; undefined if nothing does. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  demand(pattern: RegExp, what: string): string {
    const found = this.take(pattern);
    if (found === undefined)
      throw new SyntaxError(`no ${what} at ${this.at} of ${JSON.stringify(this.text)}`);
    return found;
  }
}

function readItem(reader: Reader): Item {
  const value = readBareItem(reader);
  const parameters: Record<string, BareItem> = {};
  while (reader.take(/; */y) !== undefined) {
    const key = reader.demand(/[a-z*][a-z0-9_.*-]*/y, 'key');
    if (key in parameters) throw new SyntaxError(`${key} is there twice`);
    parameters[key] = reader.take(/=/y) === undefined ? true : readBareItem(reader);
  }
  return { value, parameters };
}

function readBareItem(reader: Reader): BareItem {
  const number = reader.take(/-?\d+(\.\d+)?/y);
  if (number !== undefined) return numberIn(number);
  const string = reader.take(/"(?:[ !#-[\]-~]|\\["\\])*"/y);
  if (string !== undefined) return string.slice(1, -1).replace(/\\(.)/g, '$1');
  const bytes = reader.take(/:[A-Za-z0-9+/]*=*:/y);
  if (bytes !== undefined) return { bytes: Buffer.from(bytes.slice(1, -1), 'base64') };
  const boolean = reader.take(/\?[01]/y);
  if (boolean !== undefined) return boolean === '?1';
  return { token: reader.demand(/[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y, 'value') };
}

function numberIn(text: string): number {
  const [, whole = '', fraction = ''] = /^-?(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const isLong = fraction === '' ? whole.length > 15 : whole.length > 12 || fraction.length > 3;
  if (isLong) throw new SyntaxError(`${text} has too many digits`);
  return Number(text);
}
