import { EMAIL_STATUSES } from '@posthorn/domain';
import type { FoundEmail, Workspace } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { choice, field } from '../pages/fields.ts';
import { faultAlert, time } from '../pages/parts.ts';
import { foundTable, searchForm } from '../pages/search-shown.ts';
import type { Searched } from '../pages/searched.ts';
import { workspaceCell, workspaceField, workspaceNames } from '../pages/workspaces.ts';
import type { EMAIL_FIELDS } from './email-search.ts';

interface Found extends Searched<(typeof EMAIL_FIELDS)[number], FoundEmail> {
  readonly workspaces: readonly Workspace[];
}

/** The search for emails, and what it has found. */
export function emailsPage(shown: Found): Html {
  const { asked, fault, workspaces } = shown;
  return html`<h1>Emails</h1>
    ${search(asked, workspaces)}
    <p class="quiet">
      The newest first. Of a recipient the letters before the @ count as they were written, large or small.
      With a recipient or a workspace the search reads an index of theirs; without, it goes back through the
      emails of all, for a second and a half at a time.
    </p>
    ${faultAlert(fault)} ${foundEmails(shown)}`;
}

function search({ to, ...others }: Found['asked'], workspaces: readonly Workspace[]): Html {
  const { status, workspace, groupBy, after, before } = others;
  const fields = [
    choice('status', 'Status', { words: Object.keys(EMAIL_STATUSES), value: status }),
    workspaceField(workspace, workspaces),
    field('groupBy', 'Group', { value: groupBy }),
    field('after', 'Accepted from (UTC)', { value: after, type: 'datetime-local' }),
    field('before', 'Accepted before (UTC)', { value: before, type: 'datetime-local' }),
  ];
  const areFilled = Object.values(others).some((value) => value !== undefined);
  return searchForm('/emails', [field('to', 'Recipient, id or <Message-ID>', { value: to })], {
    fields,
    areFilled,
  });
}

function foundEmails(shown: Found): Html {
  const nameOf = workspaceNames(shown.workspaces);
  const row = (email: FoundEmail): Html =>
    html`<tr>
      <td data-label="Accepted (UTC)">${time(email.acceptedAt)}</td>
      <td class="${isBad(email) ? 'bad' : ''}">
        ${email.status}${isOnItsWay(email) ? ', not left yet' : ''}
      </td>
      <td class="wrap first"><a href="/emails/${email.id}">${email.to}</a></td>
      <td class="wrap first"><bdi class="cut">${whatOf(email)}</bdi></td>
      ${workspaceCell(email.workspaceId, nameOf)}
    </tr>`;
  const columns = ['Accepted (UTC)', 'Status', 'To', 'What', 'Workspace'];
  return foundTable(shown, { path: '/emails', columns, row });
}

/** What an email is known by: its subject, or the template that it is made of. */
export function whatOf({ subject, template }: Pick<FoundEmail, 'subject' | 'template'>): string {
  return subject ?? `template ${template}`;
}

/** Whether it is to be sent and no relay has taken it so far, which its status does not say. */
export function isOnItsWay({ status, sentAt }: Pick<FoundEmail, 'status' | 'sentAt'>): boolean {
  return status === 'SENT' && sentAt === null;
}

function isBad({ status }: Pick<FoundEmail, 'status'>): boolean {
  return status === 'BOUNCED' || status === 'FAILED' || status === 'COMPLAINED';
}
