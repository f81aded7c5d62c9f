import type { HttpRedirectResponse } from '@nestjs/common';
import { FormInput } from './form-input.ts';

/** Query parameter of a page that confirms an action. */
const CONFIRMED = 'done';

/** The sentences that confirm actions, by the value of `done` in the URL. */
type Sentences = Readonly<Record<string, string>>;

/**
 * Redirects from an action to the page that shows its result, so that a reload does not repeat the action (RFC 9110, section 15.4.4). For
 * handlers with `@Redirect()`.
 */
export function redirectWithConfirmation(
  path: string,
  word: string,
  criteria: Readonly<Record<string, string>> = {},
): HttpRedirectResponse {
  return {
    url: `${path}?${new URLSearchParams({ ...criteria, [CONFIRMED]: word }).toString()}`,
    statusCode: 303,
  };
}

/** The path and query of a page's URL, without what it confirms. */
export function withoutConfirmation(url: URL): string {
  const page = new URL(url);
  page.searchParams.delete(CONFIRMED);
  return page.pathname + page.search;
}

/** The sentence for `done` in a query; undefined: it is absent or unknown. */
export function confirmationIn(query: unknown, sentences: Sentences): string | undefined {
  const word = new FormInput(query).text(CONFIRMED) ?? '';
  return Object.hasOwn(sentences, word) ? sentences[word] : undefined;
}
