/** Elements whose content is not markup: a `<body>` inside them is text. */
const RAW_TEXT = new Set(['script', 'style', 'title', 'textarea', 'template', 'noscript']);
const TAG = /<(?:!doctype|\/?[a-z][^\s/>]*)/iy;

interface Tag {
  /** Lower case, with the `/` of an end tag. */
  readonly name: string;
  /** The index behind its `>`. */
  readonly end: number;
}

/**
 * The index in `html` at which the visible body begins: behind `<body …>`; where there is none behind `</head>`,
 * `<html …>` or the doctype, whichever comes last, so that the document keeps its standards mode; else 0.
 * Comments, quoted attributes and the content of scripts and styles are passed over. Linear in the length.
 */
export function bodyStart(html: string): number {
  let fallback = 0;
  let index = html.indexOf('<');
  while (index !== -1) {
    const next = html.startsWith('<!--', index) ? endOfComment(html, index) : tagAt(html, index);
    if (next === undefined) return fallback;
    if (typeof next === 'number') {
      index = html.indexOf('<', next);
      continue;
    }
    if (next.name === 'body') return next.end;
    if (next.name === '!doctype' || next.name === 'html' || next.name === '/head') fallback = next.end;
    const end = RAW_TEXT.has(next.name) ? endOfRawText(html, next) : next.end;
    if (end === undefined) return fallback;
    index = html.indexOf('<', end);
  }
  return fallback;
}

/** The index behind a comment; `<!-->` is a whole one, as in a browser. */
function endOfComment(html: string, start: number): number | undefined {
  const end = html.indexOf('-->', start + 2);
  return end === -1 ? undefined : end + 3;
}

/** The tag at `start`; an index to go on from where there is none; undefined where it never ends. */
function tagAt(html: string, start: number): Tag | number | undefined {
  TAG.lastIndex = start;
  const match = TAG.exec(html);
  if (match === null) return start + 1;
  const end = endOfTag(html, TAG.lastIndex);
  return end === undefined ? undefined : { name: match[0].slice(1).toLowerCase(), end };
}

function endOfTag(html: string, from: number): number | undefined {
  let index = from;
  let afterEquals = false;
  while (index < html.length) {
    const character = html[index]!;
    if (character === '>') return index + 1;
    if (afterEquals && (character === '"' || character === "'")) {
      index = html.indexOf(character, index + 1);
      if (index === -1) return undefined;
    }
    // A quote opens a value only behind an equals sign; elsewhere it is a stray character.
    afterEquals = character === '=' || (afterEquals && /\s/.test(character));
    index += 1;
  }
  return undefined;
}

function endOfRawText(html: string, tag: Tag): number | undefined {
  const closing = new RegExp(`</${tag.name}(?=[\\s/>])`, 'gi');
  closing.lastIndex = tag.end;
  return closing.exec(html)?.index;
}
