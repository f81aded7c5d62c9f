import { escapeHtml } from '@posthorn/kernel';

/** Markup that is safe to be shown as it is. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | readonly Html[] | string | number;

/** Makes markup of a template: whatever is put in is escaped, unless it is markup itself. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(texts.map((text, index) => text + markupOf(parts[index] ?? '')).join(''));
}

function markupOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return escapeHtml(String(part));
}
