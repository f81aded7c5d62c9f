/** The scheme of a URL, after white space. */
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** Schemes of targets that are of no use in a text. */
const CODE_OR_DATA = new Set(['javascript', 'vbscript', 'data']);
/** Schemes of targets that people know without them; a query or parameters may follow. */
const ADDRESSES = new Set(['mailto', 'tel', 'sms']);
const NUMBERS = new Set(['tel', 'sms']);

/** The target of a link as it is shown in a text: a URL without white space, an email address or a telephone number. Empty if there is none to show. */
export function readableTarget(href: string): string {
  // As browsers do (URL standard, section 4.4).
  const url = href.trim().replaceAll(/[\t\n\r]+/g, '');
  const scheme = schemeOf(url);
  if (url.startsWith('#') || CODE_OR_DATA.has(scheme)) return '';
  const shown = ADDRESSES.has(scheme) ? url.slice(scheme.length + 1).split(/[?;]/, 1)[0]! : url;
  return shown.trim().replaceAll(/\s/g, encodeURIComponent);
}

/**
 * Whether the text of a link already shows its target; telephone numbers may be grouped.
 *
 * @param text without its spaces
 */
export function isSameTarget(href: string, target: string, text: string): boolean {
  const scheme = schemeOf(href.trim());
  if (NUMBERS.has(scheme)) return digitsOf(text) === digitsOf(target);
  return scheme === 'mailto' ? text.toLowerCase() === target.toLowerCase() : text === target;
}

function schemeOf(url: string): string {
  return SCHEME.exec(url)?.[1]!.toLowerCase() ?? '';
}

function digitsOf(number: string): string {
  return number.replaceAll(/\D/g, '');
}
