/**
 * What a value looks like in an email: nothing for what is missing, a list with commas between its items, and, as in every
 * Handlebars, `[object Object]` for an object. Calls nothing that belongs to the value.
 */
export function printed(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(printed).join(',');
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '[object Object]';
}
