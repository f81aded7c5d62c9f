import type { OperatorAccount } from '@posthorn/database';
import { html, type Html } from './html.ts';

/** A number as people read it: its thousands apart. */
export function count(number: number): string {
  return number.toLocaleString('en');
}

/** In what a span is told, and from how many seconds on: two days read more easily than 172800 s. */
const UNITS = [
  { unit: 'd', seconds: 86_400, from: 2 * 86_400 },
  { unit: 'h', seconds: 3_600, from: 2 * 3_600 },
  { unit: 'min', seconds: 60, from: 2 * 60 },
] as const;

/** How long something takes or has taken, in the unit that suits it. */
export function span(seconds: number): string {
  const suiting = UNITS.find(({ from }) => seconds >= from);
  return suiting === undefined
    ? `${Math.round(seconds)} s`
    : `${count(Math.floor(seconds / suiting.seconds))} ${suiting.unit}`;
}

/** A time in a table whose head says `(UTC)`, to the second; a dash where there is none. */
export function time(moment: Date | null): Html {
  return moment === null ? html`–` : timeElement(moment, '');
}

/** A time with `UTC` after it. */
export function timeInUtc(moment: Date): Html {
  return timeElement(moment, ' UTC');
}

function timeElement(moment: Date, zone: string): Html {
  const text = moment.toISOString().slice(0, 19).replace('T', ' ');
  return html`<time datetime="${moment.toISOString()}" title="${moment.toISOString()}">${text}${zone}</time>`;
}

/**
 * A table that is scrolled where it is too wide. One with cells of class `wrap` or `first` is no table where the page is narrow: the cells of
 * a row stand one below the other, those of class `first` before the others, each with its `data-label`, the name of its column,
 * if it is not understood without.
 *
 * @param numbers the columns whose values stand to the right
 */
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

/** A fact; a time is one of UTC, and there is none where it is null or undefined. */
type Fact = Html | string | number | Date | null | undefined;

/** Facts with their names; those that are null or undefined are left out. */
export function facts(named: Readonly<Record<string, Fact>>): Html {
  const one = ([name, value]: [string, Fact]): Html =>
    value === undefined || value === null
      ? html``
      : html`<dt>${name}</dt>
          <dd>${value instanceof Date ? timeInUtc(value) : value}</dd>`;
  return html`<dl class="card">${Object.entries(named).map(one)}</dl>`;
}

/** That something was done, which somebody has asked for. */
export function done(sentence: string | undefined): Html {
  return sentence === undefined ? html`` : html`<p class="done" role="status">${sentence}</p>`;
}

/** Why what somebody has asked for was refused. */
export function faultAlert(sentence: string | undefined): Html {
  return sentence === undefined ? html`` : html`<p class="bad" role="alert">${sentence}.</p>`;
}

/** What can be done by operators, and what viewers are told in its place. */
export function forOperators({ role }: OperatorAccount, acts: Html): Html {
  return role === 'operator'
    ? acts
    : html`<p class="quiet">Nothing by you: you are signed in as a viewer.</p>`;
}

/** A text as it is, from its first line on: browsers leave out a line break that a `<pre>` begins with, and so it begins with one more. */
export function rawText(text: string): Html {
  return html`<div class="card" style="padding:0"><pre>${'\n'}${text}</pre></div>`;
}

/** A value out of JSON, as a text. */
export function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
