/**
 * A value as the text that is printed: empty for null and undefined, the items of an array joined by commas, and, as in
 * Handlebars, `[object Object]` for an object. Calls no method of the value, which is untrusted.
 */
export function valueToText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(valueToText).join(',');
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '[object Object]';
}
