import { EMAIL_STATUSES, EVERY_LANE, type Suppression } from '@posthorn/domain';
import type { AuditEntry, EmailRecord, OperatorAccount, PausedLane, Workspace } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { done, facts, forOperators, plain, table, time, timeInUtc } from '../pages/parts.ts';
import { workspaceText } from '../pages/workspaces.ts';
import { suppressionsOf } from '../suppressions/suppression-search.ts';
import { emailActions } from './email-actions.ts';
import { emailsTo } from './email-search.ts';
import { isOnItsWay, whatOf } from './emails-page.ts';
import { timelineTable } from './timeline-table.ts';

/** An email with what is known around it. */
export interface ShownEmail {
  readonly email: EmailRecord;
  readonly workspace: Workspace;
  /** Why nothing is sent to its recipient now; undefined: the list does not have them. */
  readonly suppression: Suppression | undefined;
  /** Why emails of its workspace are held back; undefined: they are not. */
  readonly pause: PausedLane | undefined;
  /** What operators did with it. */
  readonly acts: readonly AuditEntry[];
  /** The emails that were sent again with what it says. */
  readonly copies: readonly AuditEntry[];
  readonly account: OperatorAccount;
  /** What somebody has just done. */
  readonly done?: string | undefined;
}

/** One email: what it is, what became of it, what can be done with it, and how it looks. */
export function emailPage(shown: ShownEmail): Html {
  const { email, account, acts, copies } = shown;
  return html`<h1><bdi>${whatOf(email)}</bdi></h1>
    ${done(shown.done)} ${factsOf(shown)}
    <h2>What became of it</h2>
    ${timelineTable(email)}
    <h2>What can be done</h2>
    ${forOperators(account, emailActions(email))} ${suppressLink(shown)}
    ${acts.length + copies.length > 0 ? actsTable([...acts, ...copies], email) : ''}
    <h2>How it looks</h2>
    <p class="quiet">
      Nothing in it is run, and nothing is loaded from elsewhere: images of other servers stay away, links
      lead nowhere.
      <a href="/emails/${email.id}/source">Its source and headers</a>
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
    'Workspace': workspaceText(workspace),
    'Template': template,
    'Group': groupBy,
    'Accepted': acceptedAt,
    'To be sent': sendAt,
    'Held back': pause && hasToLeave(email) ? pauseText(pause) : undefined,
    'Next attempt': hasToLeave(email) ? nextAttempt(email) : undefined,
    'Sent': sentAt ?? '–',
    'Opened': hitsText(trackOpens, engagement.opens, engagement.machineOpens),
    'Clicked': hitsText(trackClicks, engagement.clicks, engagement.machineClicks),
    // As mail programs show it, and as the search takes it.
    'Message-ID': `<${messageId}>`,
    'Id': id,
  });
}

/** What the status says of this email: of `SENT`, whether it has left. */
function statusText(email: EmailRecord): string {
  if (email.status !== 'SENT') return EMAIL_STATUSES[email.status];
  return isOnItsWay(email)
    ? 'it has not left yet; it is tried until a relay takes it or refuses it for good'
    : 'the relay took it; that it arrived is known only where the receiving server reports it';
}

/** How often it was opened, or clicked. */
function hitsText(isTracked: boolean, people: number, programs: number): string {
  return isTracked ? `${people} (and by programs ${programs})` : 'not tracked: nobody knows';
}

/** Whether it is still to be sent. */
function hasToLeave(email: EmailRecord): boolean {
  return email.status === 'SCHEDULED' || isOnItsWay(email);
}

function pauseText({ laneId, reason, pausedAt }: PausedLane): Html {
  const whose = laneId === EVERY_LANE ? 'everything' : 'its workspace';
  return html`${whose}, since ${timeInUtc(pausedAt)}: <a href="/pauses">“${reason}”</a>`;
}

/** When it is tried again, by what became of it last; undefined: that was no attempt that is to be repeated. */
function nextAttempt({ timeline }: EmailRecord): Date | undefined {
  const { at, detail } = timeline.at(-1) ?? {};
  const seconds = detail?.['retryAfterSeconds'];
  return at === undefined || typeof seconds !== 'number'
    ? undefined
    : new Date(at.getTime() + seconds * 1_000);
}

function suppressionText({ email, reason, createdAt }: Suppression): Html {
  return html`nothing is sent to them since ${timeInUtc(createdAt)}:
    <a href="${suppressionsOf(email)}">${reason}</a>`;
}

/** Where an operator puts the recipient on the list; nothing where they are on it. */
function suppressLink({ email, workspace, suppression, account }: ShownEmail): Html {
  if (account.role !== 'operator' || suppression !== undefined) return html``;
  return html`<p>
    <a href="${suppressionsOf(email.to, workspace.id)}">Have nothing more sent to this recipient</a>
  </p>`;
}

const ACTS: Readonly<Record<string, string>> = {
  'email.cancelled': 'cancelled it',
  'email.moved': 'moved it',
};

function actsTable(entries: readonly AuditEntry[], email: EmailRecord): Html {
  const row = (entry: AuditEntry): Html =>
    html`<tr>
      <td data-label="When (UTC)">${time(entry.createdAt)}</td>
      <td>${entry.actor.name}</td>
      <td class="wrap">${actText(entry, email)}</td>
    </tr>`;
  return html`<h2>What operators did</h2>
    ${table(['When (UTC)', 'Who', 'What'], entries.map(row))}`;
}

function actText({ action, subjectId, detail }: AuditEntry, { id }: EmailRecord): Html {
  if (action !== 'email.sent_again') return html`${ACTS[action] ?? action} ${plain(detail['sendAt'] ?? '')}`;
  const other = subjectId === id ? plain(detail['copyOf']) : subjectId;
  const link = html`<a href="/emails/${other}">${other}</a>`;
  const reason = html`“${plain(detail['reason'])}”`;
  return subjectId === id
    ? html`sent ${link} again with it: ${reason}`
    : html`sent it again as ${link}: ${reason}`;
}
