import { HasForm } from './has-form.ts';

/** A token of HTTP (RFC 9110, section 5.6.2). */
const NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** Accepts headers as OpenTelemetry writes them in one variable. */
export const AreHeaders = (): PropertyDecorator =>
  HasForm('name=value, with commas between several; values of printable ASCII, percent-encoded', areHeaders);

/** Parses such a text. @throws URIError for percent-encoded bytes that are not UTF-8 */
export function headersIn(text: string): Record<string, string> {
  return Object.fromEntries(pairsIn(text));
}

function pairsIn(text: string): [name: string, value: string][] {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return pairs.map((pair) => {
    const [name = '', ...value] = pair.split('=');
    return [name.trim(), decodeURIComponent(value.join('=').trim())];
  });
}

function areHeaders(text: string): boolean {
  try {
    const isWhole = text.split(',').every((pair) => pair.includes('='));
    return isWhole && pairsIn(text).every(([name, value]) => NAME.test(name) && VALUE.test(value));
  } catch {
    return false;
  }
}
