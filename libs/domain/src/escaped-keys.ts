import { endOfString } from './json-strings.ts';

const BLANK = /[\t\n\r ]*/y;
const SCALAR = /[^\t\n\r ,\]}]+/y;

/**
 * Reads JSON that is known to be valid and not deep, key by key. For texts with a backslash in a key only: of these
 * V8's own parser can read another key than was written (`"\u00e9"` as `\`), depending on what it has read before, from
 * whomever (https://github.com/nodejs/node/issues/63785). A string alone it reads as it should.
 */
export function readEscapedKeys(text: string): unknown {
  return new KnownJson(text).value();
}

class KnownJson {
  private at = 0;

  constructor(private readonly text: string) {}

  value(): unknown {
    const char = this.nextChar();
    if (char === '{') return this.object();
    if (char === '[') return this.array();
    return JSON.parse(char === '"' ? this.string() : this.token(SCALAR));
  }

  private object(): unknown {
    const object = {};
    while (!this.closes('}')) {
      const key = JSON.parse(this.string()) as string;
      this.nextChar();
      this.at++; // the colon
      // An assignment to `__proto__` would be something else.
      const property = { value: this.value(), writable: true, enumerable: true, configurable: true };
      Object.defineProperty(object, key, property);
    }
    return object;
  }

  private array(): unknown {
    const array: unknown[] = [];
    while (!this.closes(']')) array.push(this.value());
    return array;
  }

  /** Passes the opening bracket or a comma; says whether the closing bracket came instead, or at once. */
  private closes(bracket: string): boolean {
    const isClosed = this.nextChar() === bracket;
    this.at++;
    if (isClosed) return true;
    if (this.nextChar() !== bracket) return false;
    this.at++;
    return true;
  }

  private string(): string {
    const start = this.at;
    this.at = endOfString(this.text, start) + 1;
    return this.text.slice(start, this.at);
  }

  private nextChar(): string | undefined {
    this.token(BLANK);
    return this.text[this.at];
  }

  private token(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [token = ''] = pattern.exec(this.text) ?? [];
    this.at += token.length;
    return token;
  }
}
