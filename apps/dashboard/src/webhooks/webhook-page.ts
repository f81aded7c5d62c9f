import {
  ATTEMPT_ERRORS,
  DELIVERY_STATUSES,
  EVENT_NAMES,
  type Recovery,
  RECOVERY_STATES,
  WEBHOOK_STATUSES,
} from '@posthorn/domain';
import type { AuditEntry, FoundWebhook, OperatorAccount, ShownDelivery, Workspace } from '@posthorn/database';
import { changesTable } from '../audit/changes-table.ts';
import { html, type Html } from '../pages/html.ts';
import { choice, timeField } from '../pages/fields.ts';
import {
  count,
  confirmationNotice,
  facts,
  faultAlert,
  forOperators,
  table,
  time,
} from '../pages/components.ts';
import { resultsTable, searchForm } from '../pages/search-components.ts';
import type { SearchResult } from '../pages/search.ts';
import { workspaceLink } from '../pages/workspaces.ts';
import type { DELIVERY_FIELDS } from './webhook-search.ts';

/** A webhook with all that its page shows. */
export interface ShownWebhook {
  readonly webhook: FoundWebhook;
  readonly workspace: Workspace;
  /** The last of what was done to it, newest first. */
  readonly changes: readonly AuditEntry[];
  /** Newest first. */
  readonly recoveries: readonly Recovery[];
  readonly deliveries: SearchResult<(typeof DELIVERY_FIELDS)[number], ShownDelivery>;
  readonly account: OperatorAccount;
  /** Confirms the action just done. */
  readonly done?: string | undefined;
}

/** The page of a webhook: its data, changes, deliveries and recoveries. */
export function webhookPage(shown: ShownWebhook): Html {
  return html`<h1 class="cut">${shown.webhook.url}</h1>
    ${confirmationNotice(shown.done)} ${factsOf(shown)}
    <h2>What was done to it</h2>
    ${changesOf(shown)}
    <h2>Deliveries</h2>
    ${deliveriesOf(shown)}
    <h2>Resend what failed</h2>
    ${recoveriesTable(shown.recoveries)} ${forOperators(shown.account, recoverForm(shown.webhook))}`;
}

function factsOf({ webhook, workspace }: ShownWebhook): Html {
  const { status, url, events, failingSince, isSlow, createdAt, updatedAt, id } = webhook;
  return facts({
    'Status': html`<b>${status}</b>: ${WEBHOOK_STATUSES[status]}`,
    'URL': url,
    'Workspace': workspaceLink(workspace),
    'Events': events.join(', '),
    'Failing since': failingSince,
    'Receiver': isSlow ? 'slow: its deliveries use connections of their own' : undefined,
    'Created': createdAt,
    'Changed': updatedAt,
    'Id': id,
  });
}

/** The log has none of a webhook that is older than the log. */
function changesOf({ webhook: { id, workspaceId }, changes }: ShownWebhook): Html {
  const query = new URLSearchParams({ workspace: workspaceId, subject: id });
  return html`${changes.length === 0 ? '' : changesTable(changes)}
    <p><a href="/audit?${query.toString()}">All in the audit log</a></p>`;
}

function deliveriesOf({ webhook: { id }, deliveries }: ShownWebhook): Html {
  const { criteria, fault } = deliveries;
  const path = `/webhooks/${id}`;
  const columns = ['Event of (UTC)', 'Event', 'Status', 'Attempts', 'Last answer', 'Next attempt (UTC)'];
  const row = (delivery: ShownDelivery): Html => deliveryRow(path, delivery);
  const fields = [
    choice('status', 'Status', { words: Object.keys(DELIVERY_STATUSES), value: criteria.status }),
    choice('event', 'Event', { words: EVENT_NAMES, value: criteria.event }),
    timeField('after', 'From', { value: criteria.after }),
    timeField('before', 'Before', { value: criteria.before }),
  ];
  return html`${searchForm(path, fields)} ${faultAlert(fault)}
    <p class="quiet">Newest first.</p>
    ${resultsTable(deliveries, { path, columns, row, numbers: ['Attempts'] })}`;
}

function deliveryRow(path: string, delivery: ShownDelivery): Html {
  const { id, createdAt, event, isTest, status, attemptCount, nextAttemptAt } = delivery;
  return html`<tr>
    <td data-label="Event of (UTC)"><a href="${path}/deliveries/${id}">${time(createdAt)}</a></td>
    <td class="first">${event}${isTest ? ' (a test)' : ''}</td>
    <td class="${status === 'EXHAUSTED' || status === 'EXPIRED' ? 'bad' : ''}">${statusText(delivery)}</td>
    <td class="n" data-label="Attempts">${attemptCount}</td>
    <td class="wrap" data-label="Last answer">${lastAnswer(delivery)}</td>
    <td data-label="Next attempt (UTC)">${time(nextAttemptAt)}</td>
  </tr>`;
}

/** The status of a delivery, and whether it is being posted now. */
export function statusText({ status, isUnderWay }: Pick<ShownDelivery, 'status' | 'isUnderWay'>): string {
  return isUnderWay ? `${status}, being posted` : status;
}

function lastAnswer({ lastAttempt }: ShownDelivery): string {
  if (lastAttempt === null) return '–';
  const { statusCode, error } = lastAttempt;
  if (statusCode !== null) return String(statusCode);
  return error === null ? '–' : ATTEMPT_ERRORS[error];
}

function recoveriesTable(recoveries: readonly Recovery[]): Html {
  if (recoveries.length === 0) return html``;
  const row = ({ since, until, state, done, total, createdAt, finishedAt }: Recovery): Html =>
    html`<tr>
      <td class="first" data-label="Since (UTC)">${time(since)}</td>
      <td class="first" data-label="Until (UTC)">${time(until)}</td>
      <td title="${RECOVERY_STATES[state]}">${state}</td>
      <td>
        <progress value="${done}" max="${Math.max(1, total)}" aria-label="How many were made due"></progress>
        ${count(done)} of ${count(total)}
      </td>
      <td data-label="Begun (UTC)">${time(createdAt)}</td>
      <td data-label="Done (UTC)">${time(finishedAt)}</td>
    </tr>`;
  return table(
    ['Since (UTC)', 'Until (UTC)', 'State', 'Made due', 'Begun (UTC)', 'Done (UTC)'],
    recoveries.map(row),
  );
}

function recoverForm({ id }: FoundWebhook): Html {
  return html`<form class="card" style="margin-top:.75rem" method="post" action="/webhooks/${id}/recover">
    <p class="quiet" style="margin:0">
      All deliveries of this period that are exhausted or waiting for a retry become due, a group at a time.
      Without an end, the period lasts until now.
    </p>
    <div class="search">
      ${timeField('since', 'Since', { isRequired: true })} ${timeField('until', 'Until')}
      <div><button>Send again</button></div>
    </div>
  </form>`;
}
