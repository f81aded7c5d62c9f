import type { Page } from '@posthorn/domain';
import type { Response } from 'express';
import { applyRefusal } from './refusals.ts';
import { FormInput } from './form-input.ts';

/** A search and its results. */
export interface SearchResult<Field extends string, Item> {
  /** The values of the form's fields. */
  readonly criteria: Readonly<Record<Field, string | undefined>>;
  /** Undefined: the search was refused. */
  readonly found: Page<Item> | undefined;
  /** Why it was refused. */
  readonly fault?: string;
}

/**
 * Runs a search. A refusal becomes its `fault`, to be shown above the form, which stays filled.
 *
 * @param fields the names of the form's fields
 * @param search validates the input and searches
 */
export async function runSearch<Field extends string, Item>(
  fields: readonly Field[],
  query: unknown,
  response: Response,
  search: (input: FormInput) => Promise<Page<Item> | undefined>,
): Promise<SearchResult<Field, Item>> {
  const input = new FormInput(query);
  const criteria = Object.fromEntries(fields.map((name) => [name, input.redisplay(name)])) as Record<
    Field,
    string | undefined
  >;
  try {
    return { criteria, found: await search(input) };
  } catch (error) {
    return { criteria, found: undefined, fault: applyRefusal(error, response) };
  }
}
