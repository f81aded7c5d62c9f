/**
 * Common mistakes when a record is copied into the form of a DNS provider, as a predicate; undefined: none of them. Receivers may accept a
 * record with such characters in a part that they do not read, so this is asked only about a record that is wrong.
 */
export function faultInSpelling(record: string): string | undefined {
  if (/"|^\s*'/.test(record)) return 'has quotation marks in it; enter the value without them';
  if (record.includes('\\')) return 'has backslashes in it; enter the value without them';
  // Also the octets of typographic quotation marks and of no-break spaces.
  if (/[^\t\r\n\x20-\x7e]/.test(record))
    return 'has characters in it that are not plain text, perhaps invisible ones; copy the value again, without formatting';
  return undefined;
}
