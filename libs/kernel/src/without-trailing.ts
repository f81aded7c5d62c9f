/** A text without the characters at its end that are this one. An expression for it would take the square of the time for a run that does not end the text. */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
