import { html, type Html } from './html.ts';
import { table } from './components.ts';
import type { SearchResult } from './search.ts';

/** Fields that are collapsed on narrow screens. */
interface FoldedFields {
  readonly fields: readonly Html[];
  /** Whether one of them is filled: then they are not collapsed, since the results depend on it. */
  readonly areFilled: boolean;
}

/** A search form; its fields become the query of the path. @param others further buttons */
export function searchForm(
  path: string,
  fields: readonly Html[],
  folded?: FoldedFields,
  others: Html = html``,
): Html {
  return html`<form class="search" method="get" action="${path}" role="search">
    ${fields} ${folded === undefined ? '' : foldedFields(folded)}
    <div><button>Search</button> ${others}</div>
  </form>`;
}

function foldedFields({ fields, areFilled }: FoldedFields): Html {
  return html`<details ${areFilled ? html`open` : ''}>
    <summary>More filters</summary>
    ${fields}
  </details>`;
}

interface ResultsTable<Item> {
  /** The path of the search. */
  readonly path: string;
  readonly columns: readonly string[];
  readonly row: (item: Item) => Html;
  /** As of {@link table}. */
  readonly numbers?: readonly string[];
}

/** The results of a search and a link to the next page; empty where the search was refused. */
export function resultsTable<Item>(
  { criteria, found }: SearchResult<string, Item>,
  { path, columns, row, numbers }: ResultsTable<Item>,
): Html {
  if (found === undefined) return html``;
  const { items, hasMore, startAt } = found;
  const nothing = hasMore ? 'Nothing was found in what has been searched so far.' : 'Nothing was found.';
  const shown = items.length > 0 ? table(columns, items.map(row), numbers) : html`<p>${nothing}</p>`;
  return html`${shown} ${startAt === null ? '' : nextPage(path, { ...criteria, startAt })}`;
}

function nextPage(path: string, criteria: Readonly<Record<string, string | undefined>>): Html {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(criteria)) if (value !== undefined) query.set(name, value);
  return html`<p><a href="${path}?${query.toString()}" rel="next">Further back</a></p>`;
}
