import { compile, type HtmlToTextOptions } from 'html-to-text';
import { alternativeText, link, numberedList } from './text/formatters.ts';
import { cell, row } from './text/table-rows.ts';
import { tidyText } from './text/tidy-text.ts';

type Selectors = NonNullable<HtmlToTextOptions['selectors']>;

const BLOCKS = 'address center dd dt fieldset figcaption figure legend caption details summary'.split(' ');
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

/** A CSS declaration in a `style`, with or without a space. */
const styled = (name: string, value: string): string[] =>
  [`${name}:${value}`, `${name}: ${value}`].map((declaration) => `[style*="${declaration}" i]`);

/**
 * Hidden content: pre-headers, duplicates for narrow screens, conditional markup. `mso-hide:all` is not among it, because it hides buttons from
 * Outlook alone, and neither is `font-size:0`, which many templates set around visible text.
 */
const HIDDEN = [
  ...styled('display', 'none'),
  ...styled('visibility', 'hidden'),
  // With `overflow:hidden`: alone, the content would overlap what follows.
  ...styled('max-height', '0').map((height) => `${height}[style*="hidden" i]`),
  // The attribute makes them more specific than those of preformatted elements.
].map((selector) => `${selector}[style]`);

/** An element that begins a new line and ends it, and how many line breaks keep it apart from others. */
const block = (selector: string, lineBreaks: number, format = 'block'): Selectors[number] => ({
  selector,
  format,
  options: { leadingLineBreaks: lineBreaks, trailingLineBreaks: lineBreaks },
});

const convert = compile({
  // Clients wrap text to their own width; hard line breaks look ragged on a phone.
  wordwrap: false,
  // Browsers also show content before or after the `<body>`, such as a footer that was appended to a document.
  baseElements: { selectors: [] },
  // Without the space of no width, which divides no words.
  whitespaceCharacters: ' \t\r\n\f',
  formatters: { alternativeText, cell, link, numberedList, row },
  selectors: [
    { selector: 'a', format: 'link' },
    { selector: 'img', format: 'alternativeText' },
    { selector: 'ol', format: 'numberedList' },
    { selector: 'tr', format: 'row' },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    ...BLOCKS.map((selector) => block(selector, 1)),
    ...HEADINGS.map((selector) => ({
      selector,
      options: { uppercase: false, leadingLineBreaks: 2, trailingLineBreaks: 2 },
    })),
    // Not `span`, which would become a paragraph: editors give this style to each piece of a sentence.
    ...styled('white-space', 'pre').flatMap((style) => [
      block(`div${style}`, 1, 'pre'),
      block(`p${style}`, 2, 'pre'),
    ]),
    ...[...HIDDEN, '[hidden]', 'title', 'template'].map((selector) => ({ selector, format: 'skip' })),
  ],
});

/** The name of an element that html-to-text would find in its table of elements, as a property of every object, and fail. */
const PROPERTY_OF_OBJECTS = /(?<=<\/?)constructor(?=[\s/>])/gi;

/** Runs in a thread of `HtmlToText`. Imports only this library by relative paths, so that Node can run it from source and built. */
export default function convertHtmlToText(html: string): string {
  return tidyText(convert(html.replace(PROPERTY_OF_OBJECTS, 'span')));
}
