import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** Elements that a browser puts into the head while there is no body yet. Any other element, or text, begins the body. */
const HEAD_ELEMENTS = new Set([
  ...['html', 'head', 'base', 'basefont', 'bgsound', 'link', 'meta', 'noscript'],
  ...['title', 'style', 'script', 'noframes', 'template'],
]);
/** Those whose content is not shown. Mail clients run no scripts, so the content of `<noscript>` is. */
const HIDDEN_ELEMENTS = new Set(['title', 'style', 'script', 'noframes', 'template']);

/**
 * The index in `html` at which a browser begins the body: after `<body …>`, or before the first visible content, if that comes first; 0 if
 * there is neither. Takes linear time, and reads nothing after that index.
 */
export function bodyStart(html: string): number {
  const reader = new BodyReader(html, () => tokenizer.pause());
  const tokenizer = new Tokenizer({ decodeEntities: false }, reader);
  tokenizer.write(html);
  tokenizer.end();
  return reader.start ?? 0;
}

/** Receives the tokens of a document until its body begins. */
class BodyReader implements TokenizerCallbacks {
  start: number | undefined;
  private tag = '';
  /** The number of open hidden elements; only `<template>` can contain others. */
  private openHidden = 0;

  constructor(
    private readonly html: string,
    private readonly onFound: () => void,
  ) {}

  onopentagname(start: number, end: number): void {
    this.tag = this.html.slice(start, end).toLowerCase();
    if (this.tag !== 'body' && !HEAD_ELEMENTS.has(this.tag)) this.foundAt(start - 1);
  }

  onopentagend(end: number): void {
    if (this.tag === 'body') this.foundAt(end + 1);
    if (HIDDEN_ELEMENTS.has(this.tag)) this.openHidden += 1;
  }

  /** HTML ignores the slash. */
  onselfclosingtag(end: number): void {
    this.onopentagend(end);
  }

  onclosetag(start: number, end: number): void {
    if (this.openHidden > 0 && HIDDEN_ELEMENTS.has(this.html.slice(start, end).toLowerCase()))
      this.openHidden -= 1;
  }

  ontext(start: number, end: number): void {
    if (this.html.slice(start, end).trim() !== '') this.foundAt(start);
  }

  private foundAt(index: number): void {
    if (this.openHidden > 0) return;
    // The tokenizer may deliver more tokens before it pauses.
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
