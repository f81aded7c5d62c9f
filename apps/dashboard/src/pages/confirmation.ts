import type { HttpRedirectResponse } from '@nestjs/common';
import { FormInput } from './form-input.ts';

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
  return { url: `${path}?${new URLSearchParams({ ...criteria, done: word }).toString()}`, statusCode: 303 };
}

/** The sentence for `done` in a query; undefined: it is absent or unknown. */
export function confirmationIn(query: unknown, sentences: Sentences): string | undefined {
  const word = new FormInput(query).text('done') ?? '';
  return Object.hasOwn(sentences, word) ? sentences[word] : undefined;
}
