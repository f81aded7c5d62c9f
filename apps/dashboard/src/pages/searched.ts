import { Refusal } from '@posthorn/kernel';
import type { Page } from '@posthorn/domain';
import type { Response } from 'express';
import { Given } from './given.ts';

/** A search, as its page shows it. */
export interface Searched<Field extends string, Item> {
  /** What its fields are filled with. */
  readonly asked: Readonly<Record<Field, string | undefined>>;
  /** Undefined: it was refused. */
  readonly found: Page<Item> | undefined;
  /** Why it was. */
  readonly fault?: string;
}

/**
 * Makes a search. What is wrong with it is said above its form, which stays filled.
 *
 * @param fields the names of its fields
 * @param search judges what was given, and finds
 */
export async function searched<Field extends string, Item>(
  fields: readonly Field[],
  query: unknown,
  response: Response,
  search: (given: Given) => Promise<Page<Item> | undefined>,
): Promise<Searched<Field, Item>> {
  const given = new Given(query);
  const asked = Object.fromEntries(fields.map((name) => [name, given.shown(name)])) as Record<
    Field,
    string | undefined
  >;
  try {
    return { asked, found: await search(given) };
  } catch (error) {
    if (!(error instanceof Refusal) || error.statusCode !== 400) throw error;
    response.status(400);
    return { asked, found: undefined, fault: error.message };
  }
}
