import { timeOf } from '@posthorn/kernel';
import { FAILURE_CLASSES, parseOpaqueStart } from '@posthorn/domain';
import type { FoundEmail } from '@posthorn/database';
import { count, faultAlert, table, timeInUtc } from '../pages/components.ts';
import { html, type Html } from '../pages/html.ts';
import type { SearchResult } from '../pages/search.ts';
import type { PageWorkspaces } from '../pages/workspaces.ts';
import type { EmailCounts, ValueCount } from './email-counts.ts';
import { type EMAIL_FIELDS, NOT_LEFT, STATUS_CHOICES, type StatusChoice } from './email-search.ts';
import { emailSearchForm } from './emails-page.ts';

type EmailField = (typeof EMAIL_FIELDS)[number];

interface EmailCountsPageData extends SearchResult<EmailField, FoundEmail> {
  readonly counts: EmailCounts;
  readonly workspaces: PageWorkspaces;
}

/** How many emails match a search, by status, reason, domain and workspace. */
export function emailCountsPage(shown: EmailCountsPageData): Html {
  const { criteria, fault, counts, workspaces } = shown;
  const linkTo = (narrower: Partial<Record<EmailField, string>>, text: string): Html =>
    html`<a href="${emailsBy({ ...criteria, ...narrower })}"><bdi>${text}</bdi></a>`;
  // What was searched for stays where it is narrower than what is counted.
  const statusLink = (status: StatusChoice): Html =>
    linkTo({ status: criteria.status === NOT_LEFT ? NOT_LEFT : status }, STATUS_CHOICES[status]);
  const domainLink = (domain: string): Html => linkTo({ to: criteria.to ?? `@${domain}` }, domain);
  return html`<h1>Emails, counted</h1>
    ${emailSearchForm(criteria, workspaces)} ${faultAlert(fault)} ${total(shown)}
    <div class="plots">
      ${countsTable('Status', counts.statuses, statusLink)}
      ${countsTable('Failed because of', counts.classes, (name) =>
        linkTo({ class: name }, `${name}: ${FAILURE_CLASSES[name]}`),
      )}
      ${countsTable('Last answer', counts.answers, (text) => html`<bdi class="cut">${text}</bdi>`)}
      ${countsTable('Domain of the recipient', counts.domains, domainLink)}
      ${countsTable('Workspace', counts.workspaces, (id) => linkTo({ workspace: id }, workspaces.nameOf(id)))}
    </div>`;
}

function countsTable<Value extends string>(
  column: string,
  counts: readonly ValueCount<Value>[],
  textOf: (value: Value) => Html,
): Html {
  if (counts.length === 0) return html``;
  const row = ({ value, count: emails }: ValueCount<Value>): Html =>
    html`<tr>
      <td class="wrap first">${textOf(value)}</td>
      <td class="n" data-label="Emails">${count(emails)}</td>
    </tr>`;
  return html`<div>
    <h2>${column}</h2>
    ${table([column, 'Emails'], counts.map(row), ['Emails'])}
  </div>`;
}

function total({ found }: EmailCountsPageData): Html {
  if (found === undefined) return html``;
  const { items, startAt } = found;
  // Where the search ended, which may be long before the oldest that it found.
  const end = startAt === null ? undefined : parseOpaqueStart('trs', startAt);
  if (end === undefined) return html`<p>${count(items.length)} match.</p>`;
  const since = timeInUtc(new Date(timeOf(end)));
  return html`<p>
    ${count(items.length)} or more match: counted are the newest that a search finds at once, back to
    ${since}. Narrow it by time, recipient or workspace to count all.
  </p>`;
}

function emailsBy(criteria: Readonly<Partial<Record<EmailField, string | undefined>>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(criteria)) if (value !== undefined) query.set(name, value);
  return `/emails?${query.toString()}`;
}
