import { QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** The elements whose `href` is a link. */
const LINK_ELEMENTS = new Set(['a', 'area']);
/** The attribute by which an author excludes a link from tracking: `data-track="off"`. */
const OPT_OUT = { name: 'data-track', value: 'off' };
/** More links than any email needs; further ones are not tracked. */
const MAX_LINKS = 1_000;

/** The value of an `href`. */
interface FoundLink {
  /** The index of its first character, after the quote if there is one. */
  readonly start: number;
  /** The index after its last character. */
  readonly end: number;
  /** Its text, with character references decoded. */
  readonly value: string;
}

/** The positions in an HTML document at which tracking is inserted. */
export interface TrackingPositions {
  readonly links: readonly FoundLink[];
  /** The index of the last `</body>`, or else of the last `</html>`, or else the length of the document. */
  readonly bodyEnd: number;
}

/**
 * The links of an HTML document as a browser finds them: not in comments, scripts, `<iframe>` and the like; and the first one of repeated
 * attributes. Takes linear time for any input.
 */
export function findLinks(html: string): TrackingPositions {
  const reader = new LinkReader(html);
  const tokenizer = new Tokenizer({ decodeEntities: true }, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.positions;
}

/** Receives the tokens of a document, and collects its links. */
class LinkReader implements TokenizerCallbacks {
  private readonly links: FoundLink[] = [];
  private readonly ends: { body?: number; html?: number } = {};
  // No parameter property, because the threads of tests run this source as it is.
  private readonly html: string;
  private isLinkElement = false;
  /** Undefined: the element has no such attribute yet. */
  private isOptedOut: boolean | undefined;
  private hasHref = false;
  private href: FoundLink | undefined;
  private attribute = '';
  private attributeEnd = 0;
  private value = '';

  constructor(html: string) {
    this.html = html;
  }

  get positions(): TrackingPositions {
    return { links: this.links, bodyEnd: this.ends.body ?? this.ends.html ?? this.html.length };
  }

  onopentagname(start: number, end: number): void {
    this.isLinkElement = end - start <= 4 && LINK_ELEMENTS.has(this.html.slice(start, end).toLowerCase());
    this.isOptedOut = undefined;
    this.hasHref = false;
    this.href = undefined;
  }

  onattribname(start: number, end: number): void {
    this.attribute = this.isLinkElement ? this.html.slice(start, end).toLowerCase() : '';
    this.attributeEnd = end;
    this.value = '';
  }

  onattribdata(start: number, end: number): void {
    if (this.isLinkElement) this.value += this.html.slice(start, end);
  }

  onattribentity(codepoint: number): void {
    if (this.isLinkElement) this.value += String.fromCodePoint(codepoint);
  }

  onattribend(quote: QuoteType, end: number): void {
    if (this.attribute === OPT_OUT.name)
      this.isOptedOut ??= this.value.trim().toLowerCase() === OPT_OUT.value;
    if (this.attribute !== 'href' || this.hasHref) return;
    this.hasHref = true;
    if (quote === QuoteType.NoValue) return;
    const isQuoted = quote !== QuoteType.Unquoted;
    this.href = { start: this.valueStart(isQuoted), end: isQuoted ? end - 1 : end, value: this.value };
  }

  onopentagend(): void {
    if (this.href !== undefined && !this.isOptedOut && this.links.length < MAX_LINKS)
      this.links.push(this.href);
    this.isLinkElement = false;
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
