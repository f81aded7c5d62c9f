/** A text without the trailing repetitions of one character. A regular expression would take quadratic time on a long run inside the text. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
