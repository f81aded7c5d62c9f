import { endOfString } from './json-strings.ts';

const WHITESPACE = /[\t\n\r ]*/y;
const SCALAR = /[^\t\n\r ,\]}]+/y;

/**
 * Parses JSON that is known to be valid and not deeply nested, key by key. Needed for texts with a backslash in a key only: V8's
 * parser can misread these (`"\u00e9"` as `\`), depending on what the process has parsed before
 * (https://github.com/nodejs/node/issues/63785). A single string is parsed correctly.
 */
export function readEscapedKeys(text: string): unknown {
  return new ValidJsonReader(text).value();
}

class ValidJsonReader {
  private at = 0;

  constructor(private readonly text: string) {}

  value(): unknown {
    const char = this.nextChar();
    if (char === '{') return this.object();
    if (char === '[') return this.array();
    return JSON.parse(char === '"' ? this.string() : this.token(SCALAR));
  }

  private object(): unknown {
    const members: [string, unknown][] = [];
    while (!this.isAtEnd('}')) {
      const key = JSON.parse(this.string()) as string;
      this.nextChar();
      this.at++; // the colon
      members.push([key, this.value()]);
    }
    // Assigning to `__proto__` would set the prototype.
    return Object.fromEntries(members);
  }

  private array(): unknown {
    const array: unknown[] = [];
    while (!this.isAtEnd(']')) array.push(this.value());
    return array;
  }

  /** Skips an opening bracket or a comma. @returns whether the closing bracket came instead or directly after it */
  private isAtEnd(bracket: string): boolean {
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
    this.token(WHITESPACE);
    return this.text[this.at];
  }

  private token(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [token = ''] = pattern.exec(this.text) ?? [];
    this.at += token.length;
    return token;
  }
}
