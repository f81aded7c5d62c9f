/**
 * The number of characters (code points) of a text. One that has at most `max` UTF-16 code units is not counted: their number is
 * returned, which is no more than `max` either. No array is made, because one for the longest body would take a hundred megabytes.
 */
export function countCharacters(text: string, max: number): number {
  if (text.length <= max) return text.length;
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters;
}
