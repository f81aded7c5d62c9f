/** The fields of a block by lower-case name; the first of a repeated name. */
export type FieldBlock = ReadonlyMap<string, string>;

const MAX_BLOCKS = 50;
const MAX_FIELDS = 100;
/** Before the colon may be white space (RFC 5322, section 4.5). */
const FIELD = /^([!-9;-~]{1,100})[ \t]*:(.*)$/;

/**
 * Parses the blocks of fields of a delivery status or feedback report: written as headers, with an empty line between two blocks
 * (RFC 3464, section 2.1). Lines that are no field are skipped, and so is what exceeds 50 blocks or 100 lines of a block.
 */
export function readFieldBlocks(text: string): FieldBlock[] {
  return text
    .split(/\r?\n[ \t]*(?:\r?\n)+/, MAX_BLOCKS)
    .map(readBlock)
    .filter((block) => block.size > 0);
}

function readBlock(text: string): FieldBlock {
  const block = new Map<string, string>();
  // Unfolds: a line that begins with white space continues the one before (RFC 5322, section 2.2.3).
  for (const line of text.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/, MAX_FIELDS)) {
    const [, name, value] = FIELD.exec(line) ?? [];
    const key = name?.toLowerCase();
    if (key !== undefined && !block.has(key)) block.set(key, value!.trim());
  }
  return block;
}
