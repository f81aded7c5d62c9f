/** RFC 2047, section 2: an encoded word has at most 75 characters, a line that holds one at most 76. */
const MAX_WORD = 75;
const MAX_LINE = 76;
const FRAME = '=?UTF-8?B??='.length;

/** Characters that need no encoding anywhere, even in a display name (RFC 2047, section 5, rule 3). */
const Q_LITERAL = /^[A-Za-z0-9!*+/-]$/;
const Q_COST = Uint8Array.from({ length: 128 }, (_, code) =>
  code === 0x20 || Q_LITERAL.test(String.fromCharCode(code)) ? 1 : 3,
);

interface Scheme {
  readonly letter: 'B' | 'Q';
  /** The maximum sum of `costOf` for an encoded text of at most `characters` characters. */
  readonly capacityOf: (characters: number) => number;
  readonly costOf: (codePoint: number) => number;
  readonly encode: (text: string) => string;
}

const BASE64: Scheme = {
  letter: 'B',
  capacityOf: (characters) => Math.floor(characters / 4) * 3,
  costOf: utf8Length,
  encode: (text) => Buffer.from(text, 'utf8').toString('base64'),
};

const QUOTED: Scheme = {
  letter: 'Q',
  capacityOf: (characters) => characters,
  costOf: (codePoint) => (codePoint < 0x80 ? Q_COST[codePoint]! : 3 * utf8Length(codePoint)),
  encode: quote,
};

/**
 * Encodes `text` as encoded words of UTF-8 (RFC 2047), to be joined by folding white space, which decoders drop.
 * A character never spans two words. Uses Q or B, whichever is shorter for the whole text.
 *
 * @param usedOfLine how many characters of the first line are already used
 */
export function encodedWords(text: string, usedOfLine: number): string[] {
  const scheme = shorterScheme(text);
  const words: string[] = [];
  let capacity = scheme.capacityOf(Math.min(MAX_WORD, MAX_LINE - usedOfLine) - FRAME);
  let start = 0;
  let index = 0;
  while (index < text.length) {
    const codePoint = text.codePointAt(index)!;
    const cost = scheme.costOf(codePoint);
    if (cost > capacity && index > start) {
      words.push(word(scheme, text.slice(start, index)));
      start = index;
      capacity = scheme.capacityOf(MAX_WORD - FRAME);
    }
    capacity -= cost;
    index += codePoint > 0xffff ? 2 : 1;
  }
  words.push(word(scheme, text.slice(start)));
  return words;
}

function shorterScheme(text: string): Scheme {
  let quoted = 0;
  let bytes = 0;
  for (const character of text) {
    const codePoint = character.codePointAt(0)!;
    quoted += QUOTED.costOf(codePoint);
    bytes += BASE64.costOf(codePoint);
  }
  return quoted <= Math.ceil(bytes / 3) * 4 ? QUOTED : BASE64;
}

function word(scheme: Scheme, text: string): string {
  return `=?UTF-8?${scheme.letter}?${scheme.encode(text)}?=`;
}

function quote(text: string): string {
  let quoted = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    if (byte === 0x20) quoted += '_';
    else if (byte < 0x80 && Q_COST[byte] === 1) quoted += String.fromCharCode(byte);
    else quoted += `=${HEX[byte >> 4]!}${HEX[byte & 15]!}`;
  }
  return quoted;
}

const HEX = [...'0123456789ABCDEF'];

function utf8Length(codePoint: number): number {
  if (codePoint < 0x80) return 1;
  if (codePoint < 0x800) return 2;
  return codePoint < 0x10000 ? 3 : 4;
}
