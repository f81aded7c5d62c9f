import type { JsonObject } from '@posthorn/domain';

/** How a template asks for the link: `{{unsubscribeUrl}}`. */
const NAME = 'unsubscribeUrl';
const PLACEHOLDER = /\{\{\s*unsubscribeUrl\s*\}\}/g;

/** The variables with the link among them; it wins over one of the caller's. Undefined: the email carries none. */
export function withUnsubscribeUrl(variables: JsonObject, url: string | undefined): JsonObject {
  return url === undefined ? variables : { ...variables, [NAME]: url };
}

/** What a caller need not give when the email carries the link. */
export function withoutUnsubscribeUrl(paths: readonly string[], carriesIt: boolean): readonly string[] {
  return carriesIt ? paths.filter((path) => path !== NAME) : paths;
}

/** A raw content with the link where it asks for it in the words of a template; nothing else of it is a template. */
export function insertUnsubscribeUrl<Content extends { readonly html: string; readonly text: string | null }>(
  content: Content,
  url: string | undefined,
): Content {
  if (url === undefined) return content;
  const inserted = (text: string): string => text.replace(PLACEHOLDER, () => url);
  return { ...content, html: inserted(content.html), text: content.text && inserted(content.text) };
}
