import type { OperatorAccount } from '@posthorn/database';
import { html, type Html } from './html.ts';

/** A number with thousands separators. */
export function count(number: number): string {
  return number.toLocaleString('en');
}

const UNITS = [
  { unit: 'd', seconds: 86_400 },
  { unit: 'h', seconds: 3_600 },
  { unit: 'min', seconds: 60 },
] as const;

/** A duration in the largest unit of which there are at least two. */
export function formatDuration(seconds: number): string {
  const suiting = UNITS.find((unit) => seconds >= 2 * unit.seconds);
  return suiting === undefined
    ? `${Math.round(seconds)} s`
    : `${count(Math.floor(seconds / suiting.seconds))} ${suiting.unit}`;
}

/** A time to the second, for a column whose heading says `(UTC)`; a dash for null. */
export function time(moment: Date | null): Html {
  return moment === null ? html`–` : timeElement(moment, '');
}

/** A time with `UTC` after it. */
export function timeInUtc(moment: Date): Html {
  return timeElement(moment, ' UTC');
}

/** A time with `UTC` after it, as text. */
export function textInUtc(moment: Date): string {
  return Number.isFinite(Number(moment)) ? `${toSeconds(moment)} UTC` : String(moment);
}

/** Somebody may have written a time into the database that no Date can hold, such as `infinity`: it is named, so that the rest of the page is shown. */
function timeElement(moment: Date, zone: string): Html {
  if (!Number.isFinite(Number(moment))) return html`${String(moment)}`;
  const iso = moment.toISOString();
  return html`<time datetime="${iso}" title="${iso}">${toSeconds(moment)}${zone}</time>`;
}

function toSeconds(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ');
}

/**
 * A table that scrolls sideways where it is too wide. On narrow screens, a table with cells of class `wrap` or `first` shows each row as a block
 * instead: cells of class `first` come first, and each cell is preceded by its `data-label`, if it has one.
 *
 * @param numbers the columns to align right
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

/** A value; dates are shown in UTC, and null and undefined are omitted. */
type Fact = Html | string | number | Date | null | undefined;

/** A list of names and values, without those that are null or undefined. */
export function facts(named: Readonly<Record<string, Fact>>): Html {
  const one = ([name, value]: [string, Fact]): Html =>
    value === undefined || value === null
      ? html``
      : html`<dt>${name}</dt>
          <dd>${value instanceof Date ? timeInUtc(value) : value}</dd>`;
  return html`<dl class="card">${Object.entries(named).map(one)}</dl>`;
}

/** Confirms an action. */
export function confirmationNotice(sentence: string | undefined): Html {
  return sentence === undefined ? html`` : html`<p class="done" role="status">${sentence}</p>`;
}

/** Says why an action was refused. */
export function faultAlert(sentence: string | undefined): Html {
  return sentence === undefined ? html`` : html`<p class="bad" role="alert">${sentence}.</p>`;
}

/** The actions, for operators; a note in their place for viewers. */
export function forOperators({ role }: OperatorAccount, actions: Html): Html {
  return role === 'operator'
    ? actions
    : html`<p class="quiet">You cannot change anything: you are signed in as a viewer.</p>`;
}

/** A preformatted text. Begins with a line break, since browsers drop the first one in a `<pre>`. */
export function rawText(text: string): Html {
  return html`<div class="card" style="padding:0"><pre>${'\n'}${text}</pre></div>`;
}

/** A JSON value as text. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
