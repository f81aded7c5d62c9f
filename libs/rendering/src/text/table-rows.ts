import type { DomNode, FormatCallback } from 'html-to-text';

const PARAGRAPHS = new Set(['p', 'div', 'center', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6']);
const INLINE = new Set(
  'a abbr b big code del em font i img ins mark s small span strike strong sub sup time u wbr'.split(' '),
);
/** Its line breaks are shown. */
const PREFORMATTED = /white-space:\s*pre/i;

/** Keeps the cells of a row apart where the markup has no space between them. */
export const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

/**
 * A row is a line. If several of its cells show something, this is also true of paragraphs that are alone in their cells, such as
 * `<td><p>Total</p></td><td><p>5 €</p></td>`.
 */
export const row: FormatCallback = (element, walk, builder) => {
  const cells = element.children.filter(({ children = [] }) => children.some(showsSomething));
  builder.openBlock({ leadingLineBreaks: 1 });
  walk(cells.length > 1 ? element.children.map(inOneLine) : element.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
};

function showsSomething({ type, data = '', attribs, children = [] }: DomNode): boolean {
  if (type === 'text') return data.trim() !== '';
  return Boolean((attribs as { alt?: string } | undefined)?.alt) || children.some(showsSomething);
}

/** The cell with its paragraph as inline text, if it has only one, and in it no line breaks. */
function inOneLine(tableCell: DomNode): DomNode {
  const { children = [] } = tableCell;
  return isOneLine(children) ? { ...tableCell, children: children.map(asInline) } : tableCell;
}

function isOneLine(nodes: readonly DomNode[]): boolean {
  const [first, ...others] = nodes.filter(
    ({ type, data }) => type === 'tag' || (type === 'text' && data!.trim() !== ''),
  );
  return first !== undefined && others.length === 0 && isParagraph(first)
    ? isOneLine(first.children)
    : nodes.every(isInline);
}

function isInline({ type, name = '', children = [] }: DomNode): boolean {
  return type !== 'tag' || (INLINE.has(name) && children.every(isInline));
}

/** Not its children instead of it, because it may be hidden. */
function asInline(node: DomNode): DomNode {
  return isParagraph(node) ? { ...node, name: 'span', children: node.children.map(asInline) } : node;
}

function isParagraph({ name = '', attribs }: DomNode): boolean {
  const { style = '' } = (attribs ?? {}) as { style?: string };
  return PARAGRAPHS.has(name) && !PREFORMATTED.test(style);
}
