import { EMAIL_STATUSES, type Page } from '@posthorn/domain';
import type { FoundEmail, Workspace } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { choice, field, nextPage, table, time, workspaceField } from '../pages/parts.ts';
import type { Searched } from '../pages/searched.ts';
import type { EMAIL_FIELDS } from './email-search.ts';

interface Found extends Searched<(typeof EMAIL_FIELDS)[number], Page<FoundEmail>> {
  readonly workspaces: readonly Workspace[];
}

/** The search for emails, and what it has found. */
export function emailsPage({ asked, found, fault, workspaces }: Found): Html {
  return html`<h1>Emails</h1>
    ${searchForm(asked, workspaces)}
    ${fault === undefined ? '' : html`<p class="bad" role="alert">${fault}.</p>`}
    ${found === undefined ? '' : foundEmails(found, asked, workspaces)}`;
}

function searchForm(asked: Found['asked'], workspaces: readonly Workspace[]): Html {
  const { to, status, workspace, groupBy, after, before } = asked;
  return html`<form class="search" method="get" action="/emails" role="search">
      ${field('to', 'Recipient', { value: to })}
      ${choice('status', 'Status', { words: Object.keys(EMAIL_STATUSES), value: status })}
      ${workspaceField(workspace, workspaces)} ${field('groupBy', 'Group', { value: groupBy })}
      ${field('after', 'Accepted from (UTC)', { value: after, type: 'datetime-local' })}
      ${field('before', 'Accepted before (UTC)', { value: before, type: 'datetime-local' })}
      <div><button>Search</button></div>
    </form>
    <p class="quiet">
      The newest first. With a recipient or a workspace the search reads an index of theirs; without, it goes
      back through the emails of all, for a second and a half at a time.
    </p>`;
}

function foundEmails(page: Page<FoundEmail>, asked: Found['asked'], workspaces: readonly Workspace[]): Html {
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  const row = (email: FoundEmail): Html =>
    html`<tr>
      <td>${time(email.acceptedAt)}</td>
      <td class="${isBad(email) ? 'bad' : ''}">${email.status}</td>
      <td><a href="/emails/${email.id}">${email.to}</a></td>
      <td class="wrap">${whatOf(email)}</td>
      <td>${names.get(email.workspaceId) ?? 'Posthorn itself'}</td>
    </tr>`;
  const further = nextPage('/emails', asked, page.startAt);
  if (page.items.length > 0)
    return html`${table(['Accepted', 'Status', 'To', 'What', 'Workspace'], page.items.map(row))} ${further}`;
  const nothing = page.hasMore ? 'Nothing was found among those that were looked at.' : 'Nothing was found.';
  return html`<p>${nothing}</p>
    ${further}`;
}

/** What an email is known by: its subject, or the template that it is made of. */
export function whatOf({ subject, template }: Pick<FoundEmail, 'subject' | 'template'>): string {
  return subject ?? `template ${template}`;
}

function isBad({ status }: Pick<FoundEmail, 'status'>): boolean {
  return status === 'BOUNCED' || status === 'FAILED' || status === 'COMPLAINED';
}
