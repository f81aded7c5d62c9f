import type { OperatorAccount } from '@posthorn/database';
import { isWhole, type Pause, type Whose } from '@posthorn/use-cases';
import { field, hiddenFields, select } from '../pages/fields.ts';
import { html, type Html } from '../pages/html.ts';
import { confirmationNotice, faultAlert, time, timeInUtc } from '../pages/components.ts';
import { resultsTable } from '../pages/search-components.ts';
import type { SearchResult } from '../pages/search.ts';
import { type PageWorkspaces, workspaceField, type WorkspaceName } from '../pages/workspaces.ts';
import { WHOSE } from './whose.ts';

/** The values of the form for a new pause, and what was wrong with them. */
export interface FilledForm {
  readonly whose?: string | undefined;
  readonly workspace?: string | undefined;
  readonly reason?: string | undefined;
  readonly fault?: string;
}

interface PausesPageData extends SearchResult<never, Pause> {
  /** The cursor of the current page. */
  readonly startAt: string | undefined;
  /** Since when everything is paused because the database was restored; null: it is not. */
  readonly restoredAt: Date | null;
  readonly workspaces: PageWorkspaces;
  readonly account: OperatorAccount;
  readonly filled: FilledForm;
  /** Confirms the action just done. */
  readonly done: string | undefined;
}

/** The pauses, each with a button to end it, and the form for a new one. The page does not reload itself, since that would empty the form. */
export function pausesPage(shown: PausesPageData): Html {
  const { found, fault, startAt, restoredAt, workspaces, account, filled } = shown;
  const isOperator = account.role === 'operator';
  const { nameOf } = workspaces;
  const row = ({ whose, reason, pausedAt }: Pause): Html =>
    html`<tr>
      <td class="wrap first">${whoseText(whose, nameOf)}</td>
      <td class="wrap"><bdi>${reason}</bdi></td>
      <td data-label="Since (UTC)">${time(pausedAt)}</td>
      ${isOperator ? html`<td>${resumeForm(whose, nameOf, startAt)}</td>` : ''}
    </tr>`;
  const columns = ['What', 'Why', 'Since (UTC)', ...(isOperator ? ['Actions'] : [])];
  const nothing = html`<p class="quiet">
    ${startAt === undefined ? 'Nothing is paused.' : 'Nothing more is paused.'}
  </p>`;
  return html`<h1>What is paused</h1>
    ${confirmationNotice(shown.done)} ${restoredAt === null ? '' : restoredNotice(restoredAt)}
    ${faultAlert(fault)}
    ${found?.items.length === 0 ? nothing : resultsTable(shown, { path: '/pauses', columns, row })}
    ${isOperator ? pauseForm(filled, workspaces) : ''}
    <p class="quiet">
      What is paused is still accepted, and waits. Webhooks that their workspaces have paused are found by
      their status: <a href="/webhooks?status=PAUSED">PAUSED</a>,
      <a href="/webhooks?status=DISABLED">DISABLED</a>.
    </p>`;
}

function restoredNotice(restoredAt: Date): Html {
  return html`<p class="bad" role="alert">
    The database was restored, and everything has been paused since ${timeInUtc(restoredAt)}, because what is
    due may have been sent already. <code>posthorn status</code> says how much that is;
    <code>posthorn resume</code> resumes it, and can give up what was due before a time.
  </p>`;
}

function whoseText(whose: Whose, nameOf: WorkspaceName): Html {
  if (isWhole(whose)) return html`${WHOSE[whose]}`;
  return html`<a href="/emails?workspace=${whose}">${whose}</a>
    <a href="/workspaces/${whose}"><bdi>${nameOf(whose)}</bdi></a>`;
}

/** Its hidden fields lead back to the current page. */
function resumeForm(whose: Whose, nameOf: WorkspaceName, startAt: string | undefined): Html {
  const [place, name] = isWhole(whose)
    ? [{ whose }, WHOSE[whose]]
    : [{ whose: 'workspace', workspace: whose }, nameOf(whose)];
  return html`<form method="post" action="/pauses/resume">
    ${hiddenFields({ ...place, startAt })}
    <button aria-label="Resume: ${name}">Resume</button>
  </form>`;
}

function pauseForm(
  { whose = 'workspace', workspace, reason, fault }: FilledForm,
  { suggested }: PageWorkspaces,
): Html {
  return html`<h2>Pause something</h2>
    ${faultAlert(fault)}
    <form class="search" method="post" action="/pauses">
      ${select('whose', 'What', { texts: WHOSE, value: whose })} ${workspaceField(workspace, suggested)}
      ${field('reason', 'Why', { value: reason, isRequired: true })}
      <div><button>Pause</button></div>
    </form>
    <p class="quiet">
      Operators who find an email waiting are shown the reason, and the <a href="/audit">audit log</a> has it.
    </p>`;
}
