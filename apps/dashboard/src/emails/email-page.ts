import { EMAIL_STATUSES, EVERY_LANE, type Suppression } from '@posthorn/domain';
import type { AuditEntry, EmailRecord, OperatorAccount, PausedLane, Workspace } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import {
  confirmationNotice,
  facts,
  forOperators,
  toText,
  table,
  time,
  timeInUtc,
} from '../pages/components.ts';
import { workspaceLink } from '../pages/workspaces.ts';
import { suppressionsOf } from '../suppressions/suppression-search.ts';
import { emailActionForms } from './email-action-forms.ts';
import { emailsTo } from './email-search.ts';
import { isOnItsWay, LONG_TITLE, titleOf } from './emails-page.ts';
import { timelineTable } from './timeline-table.ts';

/** An email with all that its page shows. */
export interface ShownEmail {
  readonly email: EmailRecord;
  readonly workspace: Workspace;
  /** The suppression of its recipient; undefined: there is none. */
  readonly suppression: Suppression | undefined;
  /** The pause of its workspace's emails or of all emails; undefined: there is none. */
  readonly pause: PausedLane | undefined;
  /** The actions of operators on it. */
  readonly actions: readonly AuditEntry[];
  /** The entries of the emails sent again from it. */
  readonly copies: readonly AuditEntry[];
  readonly account: OperatorAccount;
  /** Confirms the action just done. */
  readonly done?: string | undefined;
}

/** The page of an email: its data, timeline, possible actions and content. */
export function emailPage(shown: ShownEmail): Html {
  const { email, account, actions, copies } = shown;
  return html`<h1><bdi class="cut">${titleOf(email)}</bdi></h1>
    ${confirmationNotice(shown.done)} ${factsOf(shown)}
    <h2>What happened to it</h2>
    ${timelineTable(email)}
    <h2>Actions</h2>
    ${forOperators(account, emailActionForms(email, shown.suppression !== undefined))} ${suppressLink(shown)}
    ${actions.length + copies.length > 0 ? actionsTable([...actions, ...copies], email) : ''}
    <h2>Preview</h2>
    <p class="quiet">
      Scripts do not run, links do not work, and nothing is loaded from other servers, so their images are
      missing.
      <a href="/emails/${email.id}/source">Source and headers</a>
    </p>
    <iframe src="/emails/${email.id}/frame" sandbox="" title="How the email looks" loading="lazy"></iframe>`;
}

function factsOf({ email, workspace, suppression, pause }: ShownEmail): Html {
  const { status, from, to, template, groupBy, acceptedAt, sendAt, sentAt, messageId, id } = email;
  const { trackOpens, trackClicks, engagement } = email;
  return facts({
    'Status': html`<b>${status}</b>: ${statusText(email)}`,
    'From': from,
    'To': html`<a href="${emailsTo(to)}">${to}</a>`,
    'Suppressed': suppression && suppressionText(suppression),
    'Workspace': workspaceLink(workspace),
    'Subject': titleOf(email).length > LONG_TITLE ? titleOf(email) : undefined,
    'Template': template,
    'Group': groupBy,
    'Accepted': acceptedAt,
    'To be sent': sendAt,
    'Paused': pause && hasToLeave(email) ? pauseText(pause) : undefined,
    // During a pause, the due time does not say when it is sent, and may be long past.
    'Next attempt': pause === undefined && isOnItsWay(email) ? email.nextAttemptAt : undefined,
    'Sent': sentAt ?? '–',
    'Opened': hitsText(trackOpens, engagement.opens, engagement.machineOpens),
    'Clicked': hitsText(trackClicks, engagement.clicks, engagement.machineClicks),
    // As mail programs show it.
    'Message-ID': `<${messageId}>`,
    'Id': id,
  });
}

/** Explains the status; for `SENT`, says whether a relay has accepted the email. */
function statusText(email: EmailRecord): string {
  if (email.status !== 'SENT') return EMAIL_STATUSES[email.status];
  return isOnItsWay(email)
    ? 'it has not been sent yet; it is retried until a relay takes it or refuses it permanently'
    : 'the relay took it; that it arrived is known only where the receiving server reports it';
}

/** The number of opens or clicks. */
function hitsText(isTracked: boolean, people: number, programs: number): string {
  return isTracked ? `${people} (and by programs ${programs})` : 'not tracked: nobody knows';
}

/** Whether it is still to be sent. */
function hasToLeave(email: EmailRecord): boolean {
  return email.status === 'SCHEDULED' || isOnItsWay(email);
}

function pauseText({ laneId, reason, pausedAt }: PausedLane): Html {
  const whose = laneId === EVERY_LANE ? 'the emails of all workspaces' : 'its workspace';
  return html`${whose}, since ${timeInUtc(pausedAt)}: <a href="/pauses">“${reason}”</a>`;
}

function suppressionText({ email, reason, createdAt }: Suppression): Html {
  return html`nothing is sent to them since ${timeInUtc(createdAt)}:
    <a href="${suppressionsOf(email)}">${reason}</a>`;
}

/** A link for operators to suppress the recipient; empty where they are suppressed. */
function suppressLink({ email, workspace, suppression, account }: ShownEmail): Html {
  if (account.role !== 'operator' || suppression !== undefined) return html``;
  return html`<p>
    <a href="${suppressionsOf(email.to, workspace.id)}">Have nothing more sent to this recipient</a>
  </p>`;
}

const ACTION_TEXTS: Readonly<Record<string, string>> = {
  'email.cancelled': 'cancelled it',
  'email.moved': 'moved it',
  'email.hastened': 'hastened it',
};

function actionsTable(entries: readonly AuditEntry[], email: EmailRecord): Html {
  const row = (entry: AuditEntry): Html =>
    html`<tr>
      <td data-label="When (UTC)">${time(entry.createdAt)}</td>
      <td>${entry.actor.name}</td>
      <td class="wrap">${actionText(entry, email)}</td>
    </tr>`;
  return html`<h2>What operators did</h2>
    ${table(['When (UTC)', 'Who', 'What'], entries.map(row))}`;
}

function actionText({ action, subjectId, detail }: AuditEntry, { id }: EmailRecord): Html {
  if (action !== 'email.sent_again')
    return html`${ACTION_TEXTS[action] ?? action} ${toText(detail['sendAt'] ?? '')}`;
  const other = subjectId === id ? toText(detail['copyOf']) : subjectId;
  const link = html`<a href="/emails/${other}">${other}</a>`;
  const reason = html`“${toText(detail['reason'])}”`;
  return subjectId === id
    ? html`sent ${link} again with it: ${reason}`
    : html`sent it again as ${link}: ${reason}`;
}
