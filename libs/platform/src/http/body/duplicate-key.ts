import { endOfString } from '@posthorn/domain';
import { beginningOf } from '@posthorn/kernel';

const MAX_SHOWN_CHARS = 100;

/** The first duplicate key of an object in valid JSON that is known to have one. */
export function firstDuplicateKey(text: string): string {
  const open: Set<string>[] = [];
  let lastString = '';
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      const end = endOfString(text, i);
      lastString = text.slice(i, end + 1);
      i = end;
    } else if (char === '{' || char === '[') open.push(new Set());
    else if (char === '}' || char === ']') open.pop();
    else if (char === ':') {
      const key = JSON.parse(lastString) as string;
      if (open.at(-1)?.has(key)) return beginningOf(key, MAX_SHOWN_CHARS);
      open.at(-1)?.add(key);
    }
  }
  return '';
}
