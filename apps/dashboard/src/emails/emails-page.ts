import type { EmailId } from '@posthorn/kernel';
import type { EmailFailure, FoundEmail } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { field, select, timeField } from '../pages/fields.ts';
import { failureClassField } from '../pages/failure-class-field.ts';
import { faultAlert, textInUtc, time } from '../pages/components.ts';
import { resultsTable, searchForm } from '../pages/search-components.ts';
import type { SearchResult } from '../pages/search.ts';
import { type PageWorkspaces, workspaceCell, workspaceField } from '../pages/workspaces.ts';
import { type EMAIL_FIELDS, STATUS_CHOICES } from './email-search.ts';
import { failureText } from './timeline-table.ts';

/** What was filled into the search form. */
export type EmailCriteria = SearchResult<(typeof EMAIL_FIELDS)[number], FoundEmail>['criteria'];

interface EmailsPageData extends SearchResult<(typeof EMAIL_FIELDS)[number], FoundEmail> {
  readonly workspaces: PageWorkspaces;
  /** Why those emails failed, or have not left yet. */
  readonly failures: ReadonlyMap<EmailId, EmailFailure>;
}

/** The search for emails and its results. */
export function emailsPage(shown: EmailsPageData): Html {
  const { criteria, fault, workspaces } = shown;
  return html`<h1>Emails</h1>
    ${emailSearchForm(criteria, workspaces)}
    <p class="quiet">
      Newest first. The part of an address before the @ is case-sensitive; @example.net finds a whole domain.
      A search by recipient or workspace is quick; any other goes through all emails, 1.5 s at a time.
    </p>
    ${faultAlert(fault)} ${foundEmails(shown)}`;
}

/** The search form. Its second button counts what matches. */
export function emailSearchForm({ to, ...others }: EmailCriteria, workspaces: PageWorkspaces): Html {
  const { status, workspace, groupBy, class: failureClass, after, before } = others;
  const fields = [
    select('status', 'Status', { texts: { '': 'any', ...STATUS_CHOICES }, value: status }),
    workspaceField(workspace, workspaces.suggested),
    failureClassField(failureClass),
    field('groupBy', 'Group', { value: groupBy }),
    timeField('after', 'Accepted from', { value: after }),
    timeField('before', 'Accepted before', { value: before }),
  ];
  const areFilled = Object.values(others).some((value) => value !== undefined);
  const count = html`<button formaction="/emails/counts">Count</button>`;
  const recipient = field('to', 'Recipient, id or Message-ID', { value: to });
  return searchForm('/emails', [recipient], { fields, areFilled }, count);
}

function foundEmails(shown: EmailsPageData): Html {
  const { failures, workspaces } = shown;
  const row = (email: FoundEmail): Html =>
    html`<tr>
      <td data-label="Accepted (UTC)">${time(email.acceptedAt)}</td>
      <td class="${isBad(email) ? 'bad' : ''}">
        ${email.status}${isOnItsWay(email) ? ', not left yet' : ''}
      </td>
      <td class="wrap first"><a href="/emails/${email.id}">${email.to}</a></td>
      <td class="wrap first">
        <bdi class="cut">${titleOf(email)}</bdi> ${remarkOn(email, failures.get(email.id))}
      </td>
      ${workspaceCell(email.workspaceId, workspaces.nameOf)}
    </tr>`;
  const columns = ['Accepted (UTC)', 'Status', 'To', 'What', 'Workspace'];
  return resultsTable(shown, { path: '/emails', columns, row });
}

/** Why it has not arrived, or when it is to be sent. */
function remarkOn({ status, sendAt }: FoundEmail, failure: EmailFailure | undefined): Html {
  const isScheduled = status === 'SCHEDULED' && sendAt !== null;
  const remark = isScheduled ? `to be sent at ${textInUtc(sendAt)}` : failure && failureText(failure.detail);
  return remark === undefined ? html`` : html`<div class="quiet cut">${remark}</div>`;
}

/** A longer title is cut in headings; the page then shows it below. */
export const LONG_TITLE = 200;

/** The title of an email: its subject, or its template. */
export function titleOf({ subject, template }: Pick<FoundEmail, 'subject' | 'template'>): string {
  if (subject === null) return `template ${template}`;
  return subject.trim() === '' ? '(no subject)' : subject;
}

/** Whether it is due and no relay has accepted it yet, which `SENT` does not tell. */
export function isOnItsWay({ status, sentAt }: Pick<FoundEmail, 'status' | 'sentAt'>): boolean {
  return status === 'SENT' && sentAt === null;
}

/** Whether its last attempt says why it has not arrived, if there was one. */
export function mayHaveFailed(email: Pick<FoundEmail, 'status' | 'sentAt'>): boolean {
  return email.status === 'BOUNCED' || email.status === 'FAILED' || isOnItsWay(email);
}

function isBad({ status }: Pick<FoundEmail, 'status'>): boolean {
  return status === 'BOUNCED' || status === 'FAILED' || status === 'COMPLAINED';
}
