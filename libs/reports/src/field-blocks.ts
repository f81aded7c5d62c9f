/** Fields of a block, by their names in lower case; of a name that stands twice, the first. */
export type FieldBlock = ReadonlyMap<string, string>;

const MAX_BLOCKS = 50;
const MAX_FIELDS = 100;
const FIELD = /^([!-9;-~]{1,100}):(.*)$/;

/**
 * Reads the groups of fields of a delivery status or a feedback report: as headers are written, with an empty line between two groups
 * (RFC 3464, section 2.1). What is no field is skipped, and so is what is beyond 50 groups or 100 fields.
 */
export function readFieldBlocks(text: string): FieldBlock[] {
  return text
    .split(/\r?\n[ \t]*(?:\r?\n)+/, MAX_BLOCKS)
    .map(readBlock)
    .filter((block) => block.size > 0);
}

function readBlock(text: string): FieldBlock {
  const block = new Map<string, string>();
  // A line that begins with white space goes on with the one before (RFC 5322, section 2.2.3).
  for (const line of text.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/, MAX_FIELDS)) {
    const [, name, value] = FIELD.exec(line) ?? [];
    const key = name?.toLowerCase();
    if (key !== undefined && !block.has(key)) block.set(key, value!.trim());
  }
  return block;
}
