import { ATTEMPT_ERRORS, DELIVERY_STATUSES } from '@posthorn/domain';
import type { DeliveryWithAttempts, FoundWebhook, OperatorAccount, ShownAttempt } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { confirmationNotice, facts, forOperators, rawText, timeInUtc } from '../pages/components.ts';
import { statusText } from './webhook-page.ts';

interface DeliveryPageData {
  readonly webhook: FoundWebhook;
  readonly delivery: DeliveryWithAttempts;
  readonly account: OperatorAccount;
  /** Confirms the action just done. */
  readonly done?: string | undefined;
}

/** The page of a delivery: its data, attempts and body. */
export function deliveryPage({ webhook, delivery, account, done: sentence }: DeliveryPageData): Html {
  return html`<h1>${delivery.event}</h1>
    ${confirmationNotice(sentence)} ${factsOf(webhook, delivery)}
    <h2>Attempts</h2>
    ${delivery.attempts.length === 0 ? html`<p class="quiet">None yet.</p>` : delivery.attempts.map(attempt)}
    <h2>Actions</h2>
    ${forOperators(account, redeliverForm(delivery))}
    <h2>What is posted</h2>
    ${rawText(delivery.body)}`;
}

function factsOf({ id: webhookId, url }: FoundWebhook, delivery: DeliveryWithAttempts): Html {
  const { id, eventId, status, isTest, attemptCount, createdAt, nextAttemptAt, finishedAt } = delivery;
  return facts({
    'Status': html`<b>${statusText(delivery)}</b>: ${DELIVERY_STATUSES[status]}`,
    'Webhook': html`<a href="/webhooks/${webhookId}">${url}</a>`,
    'A test': isTest ? 'yes: it did not happen' : undefined,
    'Event of': createdAt,
    'Attempts': attemptCount,
    'Next attempt': nextAttemptAt,
    'Finished': finishedAt,
    'Event': eventId,
    'Id': id,
  });
}

function attempt({
  number,
  at,
  statusCode,
  error,
  reason,
  headers,
  body,
  durationMs,
  isLate,
}: ShownAttempt): Html {
  const fields = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\n`);
  const remarks = [
    ...(error === null ? [] : [ATTEMPT_ERRORS[error]]),
    ...(reason === null ? [] : [reason]),
    ...(isLate ? ['came too late to change anything'] : []),
  ];
  return html`<details class="card">
    <summary>
      ${number}: ${timeInUtc(at)},
      ${statusCode === null ? html`<span class="bad">no answer</span>` : html`<b style="display:inline;font-size:inherit">${statusCode}</b>`}
      after ${durationMs} ms${remarks.length > 0 ? html` <span>– ${remarks.join('; ')}</span>` : ''}
    </summary>
    <pre>
${fields.join('')}
${body ?? ''}</pre>
  </details>`;
}

function redeliverForm({ id, webhookId, isUnderWay }: DeliveryWithAttempts): Html {
  if (isUnderWay) return html`<p class="quiet">Nothing right now: it is being posted.</p>`;
  return html`<form class="card" method="post" action="/webhooks/${webhookId}/deliveries/${id}/redeliver">
    <p class="quiet" style="margin:0 0 .75rem">
      A waiting retry is made now; what was delivered or given up is posted again, with the same ids and the
      same body.
    </p>
    <button>Send again</button>
  </form>`;
}
