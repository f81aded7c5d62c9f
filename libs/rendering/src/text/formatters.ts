import type { DomNode, FormatCallback } from 'html-to-text';
import { isSameTarget, readableTarget } from './readable-target.ts';

/** An image becomes its alternative text; one without (a spacer, a pixel) is left out. */
export const alternativeText: FormatCallback = (element, _walk, builder) => {
  const { alt } = element.attribs as { alt?: string };
  if (alt) builder.addInline(alt);
};

/**
 * A link is followed by its target, unless its text is that. Spaces keep the target apart from everything else, because mail clients take a
 * bracket or a letter beside it for a part of it.
 */
export const link: FormatCallback = (element, walk, builder) => {
  const { href = '' } = element.attribs as { href?: string };
  walk(element.children, builder);
  const target = readableTarget(href);
  const text = element.children.map(textOf).join('');
  if (target === '' || isSameTarget(href, target, text)) return;
  builder.addInline(text === '' ? ` ${target} ` : ` ( ${target} )`, { noWordTransform: true });
};

/** What an element shows, without spaces. The builder does not tell, if it is preformatted. */
function textOf({ type, data = '', attribs, children = [] }: DomNode): string {
  if (type === 'text') return data.replaceAll(/\s/g, '');
  return (attribs as { alt?: string } | undefined)?.alt ?? children.map(textOf).join('');
}

/** The last number of which html-to-text knows the Roman numeral. */
const MAX_ROMAN = 3_999;

/**
 * An ordered list. If letters or Roman numerals cannot show its numbers, it has digits, as in browsers: html-to-text would fail, or print control characters.
 */
export const numberedList: FormatCallback = (element, walk, builder, options) => {
  const { start = '', ...attribs } = element.attribs as { start?: string; type?: string };
  const given = Number.parseInt(start, 10);
  const first = Number.isSafeInteger(given) ? given : 1;
  const isShowable = first > 0 && first + element.children.length <= MAX_ROMAN;
  const type = isShowable ? (attribs.type ?? '1') : '1';
  const list = { ...element, attribs: { ...attribs, start: String(first), type } };
  builder.options.formatters.orderedList!(list, walk, builder, options);
};
