import type { HttpRedirectResponse } from '@nestjs/common';
import { Given } from './given.ts';

/** What acts are told of with, by the word in the address that each leads to. */
type Sentences = Readonly<Record<string, string>>;

/**
 * Leads to where an act is seen, by an address that can be loaded anew without doing it once more (RFC 9110, section 15.4.4). What a handler with
 * `@Redirect()` answers.
 */
export function doneAt(
  path: string,
  word: string,
  asked: Readonly<Record<string, string>> = {},
): HttpRedirectResponse {
  return { url: `${path}?${new URLSearchParams({ ...asked, done: word }).toString()}`, statusCode: 303 };
}

/** The sentence for the word of an address; undefined: it has none, or one that stands for nothing. */
export function doneIn(query: unknown, sentences: Sentences): string | undefined {
  const word = new Given(query).text('done') ?? '';
  return Object.hasOwn(sentences, word) ? sentences[word] : undefined;
}
