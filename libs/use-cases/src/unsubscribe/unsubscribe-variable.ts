import type { JsonObject } from '@posthorn/domain';

/** The template variable for the link: `{{unsubscribeUrl}}`. */
const NAME = 'unsubscribeUrl';
const PLACEHOLDER = /\{\{\s*unsubscribeUrl\s*\}\}/g;

/** Adds the link to the variables, overriding a value of the caller's. Undefined: the email has no such link. */
export function withUnsubscribeUrl(variables: JsonObject, url: string | undefined): JsonObject {
  return url === undefined ? variables : { ...variables, [NAME]: url };
}

/** The required variables except the one that is set when the email has an unsubscribe link. */
export function withoutUnsubscribeUrl(paths: readonly string[], carriesIt: boolean): readonly string[] {
  return carriesIt ? paths.filter((path) => path !== NAME) : paths;
}

/** Inserts the link into raw content where it has the template variable; the rest is not treated as a template. */
export function insertUnsubscribeUrl<Content extends { readonly html: string; readonly text: string | null }>(
  content: Content,
  url: string | undefined,
): Content {
  if (url === undefined) return content;
  const inserted = (text: string): string => text.replace(PLACEHOLDER, () => url);
  return { ...content, html: inserted(content.html), text: content.text && inserted(content.text) };
}
