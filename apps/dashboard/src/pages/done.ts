import type { HttpRedirectResponse } from '@nestjs/common';
import { Given } from './given.ts';

/** The sentences that confirm actions, by the word in the address that each redirects to. */
type Sentences = Readonly<Record<string, string>>;

/**
 * Redirects to the page that shows the result of an action, which can be reloaded without repeating it (RFC 9110, section 15.4.4). For handlers
 * with `@Redirect()`.
 */
export function doneAt(
  path: string,
  word: string,
  asked: Readonly<Record<string, string>> = {},
): HttpRedirectResponse {
  return { url: `${path}?${new URLSearchParams({ ...asked, done: word }).toString()}`, statusCode: 303 };
}

/** The sentence for the word in an address; undefined: there is no word, or an unknown one. */
export function doneIn(query: unknown, sentences: Sentences): string | undefined {
  const word = new Given(query).text('done') ?? '';
  return Object.hasOwn(sentences, word) ? sentences[word] : undefined;
}
