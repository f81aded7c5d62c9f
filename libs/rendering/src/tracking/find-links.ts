import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** A link of an email is an `href` of one of these. */
const LINKING = new Set(['a', 'area']);
/** By this an author keeps a link as it is: `data-track="off"`. */
const KEEPS = { name: 'data-track', value: 'off' };
/** More links than an email that somebody reads; what comes after them stays as it is. */
const MAX_LINKS = 1_000;

/** The value of an `href`. */
interface FoundLink {
  /** Where its first character stands, behind a quote if there is one. */
  readonly start: number;
  /** The index behind its last character. */
  readonly end: number;
  /** What it says, with its character references resolved. */
  readonly value: string;
}

/** Where an HTML document can be changed so that its reader is noticed. */
export interface TrackablePlaces {
  readonly links: readonly FoundLink[];
  /** The index of the last `</body>`, else of the last `</html>`, else behind the last character. */
  readonly bodyEnd: number;
}

/**
 * The links of an HTML document as a browser reads it: what only looks like one in a comment, a script, an `<iframe>` and the like is none. Of
 * an attribute that is there twice the first one counts. Linear in the length, whatever it says.
 */
export function findLinks(html: string): TrackablePlaces {
  const reader = new LinkReader(html);
  const tokenizer = new Tokenizer({ decodeEntities: true }, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.places;
}

/** Hears of the tokens of a document, and keeps of them what is about links. */
class LinkReader implements TokenizerCallbacks {
  private readonly links: FoundLink[] = [];
  private readonly ends: { body?: number; html?: number } = {};
  private readonly html: string;
  private isLinking = false;
  private isKept = false;
  private hasHref = false;
  private href: FoundLink | undefined;
  private attribute = '';
  private attributeEnd = 0;
  private value = '';

  constructor(html: string) {
    this.html = html;
  }

  get places(): TrackablePlaces {
    return { links: this.links, bodyEnd: this.ends.body ?? this.ends.html ?? this.html.length };
  }

  onopentagname(start: number, end: number): void {
    this.isLinking = end - start <= 4 && LINKING.has(this.html.slice(start, end).toLowerCase());
    this.isKept = false;
    this.hasHref = false;
    this.href = undefined;
  }

  onattribname(start: number, end: number): void {
    this.attribute = this.isLinking ? this.html.slice(start, end).toLowerCase() : '';
    this.attributeEnd = end;
    this.value = '';
  }

  onattribdata(start: number, end: number): void {
    if (this.isLinking) this.value += this.html.slice(start, end);
  }

  onattribentity(codepoint: number): void {
    if (this.isLinking) this.value += String.fromCodePoint(codepoint);
  }

  onattribend(quote: QuoteType, end: number): void {
    if (this.attribute === KEEPS.name) this.isKept = this.value.trim().toLowerCase() === KEEPS.value;
    if (this.attribute !== 'href' || this.hasHref) return;
    this.hasHref = true;
    if (quote === QuoteType.NoValue) return;
    const isQuoted = quote !== QuoteType.Unquoted;
    this.href = { start: this.valueStart(isQuoted), end: isQuoted ? end - 1 : end, value: this.value };
  }

  onopentagend(): void {
    if (this.href !== undefined && !this.isKept && this.links.length < MAX_LINKS) this.links.push(this.href);
    this.isLinking = false;
    this.href = undefined;
  }

  onselfclosingtag(): void {
    this.onopentagend();
  }

  onclosetag(start: number, end: number): void {
    if (end - start !== 4) return;
    const name = this.html.slice(start, end).toLowerCase();
    if (name === 'body' || name === 'html') this.ends[name] = this.html.lastIndexOf('</', start);
  }

  /** Between the name and the value are an equals sign, white space around it, and perhaps a quote. */
  private valueStart(isQuoted: boolean): number {
    let at = this.html.indexOf('=', this.attributeEnd) + 1;
    while (/\s/.test(this.html[at]!)) at += 1;
    return isQuoted ? at + 1 : at;
  }

  ontext(): void {}
  ontextentity(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}
}
