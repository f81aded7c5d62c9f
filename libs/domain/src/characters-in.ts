/**
 * The characters (code points) of a text; counted only where there could be more than `max`, and one by one: an array of them would be a
 * hundred megabytes for the longest body.
 */
export function charactersIn(text: string, max: number): number {
  if (text.length <= max) return text.length;
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters;
}
