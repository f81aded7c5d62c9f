import type { JsonObject } from '@posthorn/domain';

/** The template variable for the link: `{{unsubscribeUrl}}`. */
const NAME = 'unsubscribeUrl';
/** Also with three braces, which templates have for what is not escaped, and percent-encoded, as programs that inline CSS write links. */
const PLACEHOLDER =
  /(?:\{\{\{?|(?:%7[Bb]){2,3})(?:\s|%20)*unsubscribeUrl(?:\s|%20)*(?:\}\}\}?|(?:%7[Dd]){2,3})/g;
/** More than any email needs. The link is several times as long, so 5 MiB of placeholders would become a message of 30 MB. */
const MAX_PLACEHOLDERS = 1_000;

/** Adds the link to the variables, overriding a value of the caller's. Undefined: the email has no such link. */
export function withUnsubscribeUrl(variables: JsonObject, url: string | undefined): JsonObject {
  return url === undefined ? variables : { ...variables, [NAME]: url };
}

/** The required variables except the one that is set when the email has an unsubscribe link. */
export function withoutUnsubscribeUrl(paths: readonly string[], carriesIt: boolean): readonly string[] {
  return carriesIt ? paths.filter((path) => path !== NAME) : paths;
}

/** The end of a sentence about missing variables: how the link gets its value. Empty if it is not one of them. */
export function adviceOnUnsubscribeUrl(missing: readonly string[]): string {
  return missing.includes(NAME)
    ? `; Posthorn gives \`${NAME}\` its value if the template has \`unsubscribe\`, or the email \`settings.unsubscribe\``
    : '';
}

/** The fault of raw content with too many places for the link, as the rest of a sentence that begins with its name; undefined: none. */
export function faultOfPlaceholders(text: string): string | undefined {
  const count = text.match(PLACEHOLDER)?.length ?? 0;
  return count > MAX_PLACEHOLDERS
    ? `has \`{{unsubscribeUrl}}\` ${count} times; at most ${MAX_PLACEHOLDERS} are allowed`
    : undefined;
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
