import type { Page } from '@posthorn/domain';
import type { Workspace } from '@posthorn/database';
import { html, type Html } from './html.ts';

/** Who has more workspaces gives their ids. */
const MOST_SUGGESTED = 500;

/** A time in a table whose head says `(UTC)`, to the second; a dash where there is none. */
export function time(moment: Date | null): Html {
  return moment === null ? html`–` : timeElement(moment, '');
}

/** A time that says itself that it is one of UTC. */
export function timeInUtc(moment: Date): Html {
  return timeElement(moment, ' UTC');
}

function timeElement(moment: Date, zone: string): Html {
  const text = moment.toISOString().slice(0, 19).replace('T', ' ');
  return html`<time datetime="${moment.toISOString()}">${text}${zone}</time>`;
}

/** A table that is scrolled where it is too wide. `numbers`: the columns whose values stand to the right. */
export function table(
  columns: readonly string[],
  rows: readonly Html[],
  numbers: readonly string[] = [],
): Html {
  const head = (column: string): Html =>
    html`<th scope="col" class="${numbers.includes(column) ? 'n' : ''}">${column}</th>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table of ${columns.join(', ')}">
    <table>
      <thead>
        <tr>
          ${columns.map(head)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

/** What a search has found, a row each; nothing where it was refused. `numbers` as of {@link table}. */
export function foundTable<Item>(
  columns: readonly string[],
  found: Page<Item> | undefined,
  row: (item: Item) => Html,
  numbers: readonly string[] = [],
): Html {
  if (found === undefined) return html``;
  if (found.items.length > 0) return table(columns, found.items.map(row), numbers);
  const nothing = found.hasMore ? 'Nothing was found among those that were looked at.' : 'Nothing was found.';
  return html`<p>${nothing}</p>`;
}

/** Facts with their names; what is undefined is left out. */
export function facts(named: Readonly<Record<string, Html | string | number | undefined>>): Html {
  const one = ([name, value]: [string, Html | string | number | undefined]): Html =>
    value === undefined
      ? html``
      : html`<dt>${name}</dt>
          <dd>${value}</dd>`;
  return html`<dl class="card">${Object.entries(named).map(one)}</dl>`;
}

interface FieldTraits {
  /** Where another form of the page has a field of this name. Default: the name. */
  readonly id?: string;
  readonly value?: string | undefined;
  readonly type?: string;
  /** The id of what it suggests. */
  readonly list?: string;
  readonly isRequired?: boolean;
}

/** A field of a form with its name above it. */
export function field(
  name: string,
  label: string,
  { id = name, value = '', type = 'text', list, isRequired = false }: FieldTraits = {},
): Html {
  const suggestions = list === undefined ? html`` : html`list="${list}"`;
  const required = isRequired ? html`required` : html``;
  return html`<div>
    <label for="${id}">${label}</label>
    <input
      id="${id}"
      name="${name}"
      type="${type}"
      value="${value}"
      autocomplete="off"
      ${suggestions}
      ${required}
    />
  </div>`;
}

/** The field for the id of a workspace, with those that there are to choose from. */
export function workspaceField(value: string | undefined, workspaces: readonly Workspace[]): Html {
  const option = ({ id, name }: Workspace): Html => html`<option value="${id}">${name}</option>`;
  return html`${field('workspace', 'Workspace', { value, list: 'workspaces' })}
    <datalist id="workspaces">${workspaces.slice(0, MOST_SUGGESTED).map(option)}</datalist>`;
}

/** A field whose value is one of some words, or none. */
export function choice(
  name: string,
  label: string,
  { words, value }: { words: readonly string[]; value?: string | undefined },
): Html {
  const option = (word: string): Html =>
    word === value ? html`<option selected>${word}</option>` : html`<option>${word}</option>`;
  return html`<div>
    <label for="${name}">${label}</label>
    <select id="${name}" name="${name}">
      <option value="">any</option>
      ${words.map(option)}
    </select>
  </div>`;
}

/** Where the next page of a list is; nothing on the last one. */
export function nextPage(
  path: string,
  asked: Readonly<Record<string, string | undefined>>,
  startAt: string | null,
): Html {
  if (startAt === null) return html``;
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...asked, startAt }))
    if (value !== undefined) query.set(name, value);
  return html`<p><a href="${path}?${query.toString()}" rel="next">Further back</a></p>`;
}

/** That something was done, which somebody has asked for. */
export function done(sentence: string | undefined): Html {
  return sentence === undefined ? html`` : html`<p class="done" role="status">${sentence}</p>`;
}

/** A value out of JSON, as a text. */
export function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
