import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';
import type { ThreadInput } from './rendering-threads.ts';

/** An image becomes its alternative text; one without (a spacer, a pixel) is left out. */
const alternativeText: FormatCallback = (element, _walk, builder) => {
  const { alt } = element.attribs as { alt?: string };
  if (alt) builder.addInline(alt);
};

/** Keeps the cells of a row apart where the markup has no space between them. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

/** The last number of which html-to-text knows the Roman numeral. */
const MAX_ROMAN = 3_999;

/**
 * An ordered list. If letters or Roman numerals cannot show its numbers, it has digits, as in browsers: html-to-text would fail, or print control characters.
 */
const numberedList: FormatCallback = (element, walk, builder, options) => {
  const { start = '', ...attribs } = element.attribs as { start?: string; type?: string };
  const given = Number.parseInt(start, 10);
  const first = Number.isSafeInteger(given) ? given : 1;
  const isShowable = first > 0 && first + element.children.length <= MAX_ROMAN;
  const type = isShowable ? (attribs.type ?? '1') : '1';
  const list = { ...element, attribs: { ...attribs, start: String(first), type } };
  builder.options.formatters.orderedList!(list, walk, builder, options);
};

const heading = (selector: string): NonNullable<HtmlToTextOptions['selectors']>[number] => ({
  selector,
  options: { uppercase: false, leadingLineBreaks: 2, trailingLineBreaks: 2 },
});

const convert = compile({
  // Clients wrap text to their own width; hard line breaks look ragged on a phone.
  wordwrap: false,
  // Browsers also show content before or after the `<body>`, such as a footer that was appended to a document.
  baseElements: { selectors: [] },
  formatters: { alternativeText, cell, numberedList },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
    { selector: 'img', format: 'alternativeText' },
    { selector: 'ol', format: 'numberedList' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(heading),
    // Hidden content: pre-headers, duplicates for narrow screens, conditional markup.
    { selector: '[style*="display:none" i]', format: 'skip' },
    { selector: '[style*="display: none" i]', format: 'skip' },
    { selector: '[hidden]', format: 'skip' },
    { selector: 'title', format: 'skip' },
    { selector: 'template', format: 'skip' },
  ],
});

/** Runs in a thread of `HtmlToText`. Imports nothing of ours, so that Node can run it from source and built. */
export default function convertHtmlToText({ task: html, begun }: ThreadInput<string>): string {
  Atomics.store(begun, 0, 1);
  const lines = convert(html).split('\n');
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}
