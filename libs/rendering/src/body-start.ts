import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** What a browser puts into the head where there is no body yet. With any other element, or with text, the body begins. */
const OF_THE_HEAD = new Set([
  ...['html', 'head', 'base', 'basefont', 'bgsound', 'link', 'meta', 'noscript'],
  ...['title', 'style', 'script', 'noframes', 'template'],
]);
/** Those of them whose content is not shown. Mail clients run no scripts, so what is in a `<noscript>` counts. */
const UNSEEN = new Set(['title', 'style', 'script', 'noframes', 'template']);

/**
 * The index in `html` at which the visible body begins, as a browser reads it: behind `<body …>`, or before the first thing that is to be
 * seen, if that comes first; where there is neither, 0. Linear in the length, and nothing behind that place is read.
 */
export function bodyStart(html: string): number {
  const reader = new BodyReader(html, () => tokenizer.pause());
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.start ?? 0;
}

/** Hears of the tokens of a document until its body begins. */
class BodyReader implements TokenizerCallbacks {
  start: number | undefined;
  private readonly html: string;
  private readonly onFound: () => void;
  private tag = '';
  /** How many elements are open whose content is not shown; of these only templates contain others. */
  private unseen = 0;

  constructor(html: string, onFound: () => void) {
    this.html = html;
    this.onFound = onFound;
  }

  onopentagname(start: number, end: number): void {
    this.tag = this.html.slice(start, end).toLowerCase();
    if (this.tag !== 'body' && !OF_THE_HEAD.has(this.tag)) this.beginsAt(start - 1);
  }

  onopentagend(end: number): void {
    if (this.tag === 'body') this.beginsAt(end + 1);
    if (UNSEEN.has(this.tag)) this.unseen += 1;
  }

  /** Of HTML, the slash says nothing. */
  onselfclosingtag(end: number): void {
    this.onopentagend(end);
  }

  onclosetag(start: number, end: number): void {
    if (this.unseen > 0 && UNSEEN.has(this.html.slice(start, end).toLowerCase())) this.unseen -= 1;
  }

  ontext(start: number, end: number): void {
    if (this.html.slice(start, end).trim() !== '') this.beginsAt(start);
  }

  private beginsAt(index: number): void {
    if (this.unseen > 0) return;
    // The tokenizer may end what it has begun before it pauses.
    this.start ??= index;
    this.onFound();
  }

  ontextentity(): void {}
  onattribname(): void {}
  onattribdata(): void {}
  onattribentity(): void {}
  onattribend(): void {}
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}
}
