import { html, type Html } from './html.ts';
import { table } from './parts.ts';
import type { Searched } from './searched.ts';

/** Fields that are folded where the page is as narrow as a telephone. */
interface FoldedFields {
  readonly fields: readonly Html[];
  /** Whether one of them is filled: then they are not folded, because what was found depends on it. */
  readonly areFilled: boolean;
}

/** The form of a search, whose fields stand in the address that it leads to. */
export function searchForm(path: string, fields: readonly Html[], folded?: FoldedFields): Html {
  return html`<form class="search" method="get" action="${path}" role="search">
    ${fields} ${folded === undefined ? '' : foldedFields(folded)}
    <div><button>Search</button></div>
  </form>`;
}

function foldedFields({ fields, areFilled }: FoldedFields): Html {
  return html`<details ${areFilled ? html`open` : ''}>
    <summary>More to search by</summary>
    ${fields}
  </details>`;
}

interface FoundTable<Item> {
  /** Of the search. */
  readonly path: string;
  readonly columns: readonly string[];
  readonly row: (item: Item) => Html;
  /** As of {@link table}. */
  readonly numbers?: readonly string[];
}

/** What a search has found, a row each, and where the next page is; nothing where it was refused. */
export function foundTable<Item>(
  { asked, found }: Searched<string, Item>,
  { path, columns, row, numbers }: FoundTable<Item>,
): Html {
  if (found === undefined) return html``;
  const { items, hasMore, startAt } = found;
  const nothing = hasMore ? 'Nothing was found among those that were looked at.' : 'Nothing was found.';
  const shown = items.length > 0 ? table(columns, items.map(row), numbers) : html`<p>${nothing}</p>`;
  return html`${shown} ${startAt === null ? '' : nextPage(path, { ...asked, startAt })}`;
}

function nextPage(path: string, asked: Readonly<Record<string, string | undefined>>): Html {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked)) if (value !== undefined) query.set(name, value);
  return html`<p><a href="${path}?${query.toString()}" rel="next">Further back</a></p>`;
}
