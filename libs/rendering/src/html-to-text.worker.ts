import { compile, type FormatCallback, type HtmlToTextOptions } from 'html-to-text';

/** A picture is what its author says it shows; one without words (a spacer, a pixel) is nothing. */
const alternativeText: FormatCallback = (element, _walk, builder) => {
  const { alt } = element.attribs as { alt?: string };
  if (alt) builder.addInline(alt);
};

/** Keeps the cells of a row apart where the markup has no space between them. */
const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

const heading = (selector: string): NonNullable<HtmlToTextOptions['selectors']>[number] => ({
  selector,
  options: { uppercase: false, leadingLineBreaks: 2, trailingLineBreaks: 2 },
});

const convert = compile({
  // Clients wrap text to their own width; lines that we break look torn on a phone.
  wordwrap: false,
  // Browsers show what stands before or behind a `<body>` too, such as a footer that was added to a whole document.
  baseElements: { selectors: [] },
  formatters: { alternativeText, cell },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
    { selector: 'img', format: 'alternativeText' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map(heading),
    // What is not shown is not read either: pre-headers, copies for narrow screens, notes to clients.
    { selector: '[style*="display:none" i]', format: 'skip' },
    { selector: '[style*="display: none" i]', format: 'skip' },
    { selector: '[hidden]', format: 'skip' },
    { selector: 'title', format: 'skip' },
    { selector: 'template', format: 'skip' },
  ],
});

/** Runs in a thread of `HtmlToText`; it loads nothing of ours, so that Node can run it from source or built alike. */
export default function convertHtmlToText(html: string): string {
  const lines = convert(html).split('\n');
  return lines
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}
