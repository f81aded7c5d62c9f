import type { MinuteOfEmails, RateOfMinute, RelaySeen } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { count, table, time } from '../pages/components.ts';
import { type ChartMinute, rateChart } from './rate-chart.ts';

/** The charts of emails accepted, sent and bounced, and of deliveries posted. */
export function rateCharts(
  accepted: readonly MinuteOfEmails[],
  rates: readonly RateOfMinute[],
  now: Date,
): Html {
  const emails = accepted.map(({ minute, accepted: all, failed: bad }) => ({ minute, all, bad }));
  const sent = minutesOf(rates, 'email', {
    counts: ['sent', 'bounced', 'failed'],
    isBad: (label) => label !== 'sent',
  });
  const bounces = minutesOf(rates, 'report', {
    counts: ['failed', 'complaint'],
    isBad: (label) => label === 'complaint',
  });
  const webhooks = minutesOf(rates, 'webhook', { isBad: (label) => label !== 'succeeded' });
  return html`<div class="plots">
    ${rateChart({ title: 'Emails accepted', bad: 'bounced or failed by now' }, emails, now)}
    ${rateChart({ title: 'Emails handed to relays', bad: 'bounced or failed' }, sent, now)}
    ${rateChart({ title: 'Bounces and complaints reported', bad: 'complaints' }, bounces, now)}
    ${rateChart({ title: 'Deliveries posted to webhooks', bad: 'failed, to be retried' }, webhooks, now)}
  </div>`;
}

interface Counting {
  /** The labels to count; absent: all. */
  readonly counts?: readonly string[];
  readonly isBad: (label: string) => boolean;
}

function minutesOf(rates: readonly RateOfMinute[], what: string, { counts, isBad }: Counting): ChartMinute[] {
  const counted = rates.filter((rate) => rate.what === what && (counts?.includes(rate.label) ?? true));
  const byMinute = Map.groupBy(counted, ({ minute }) => minute.getTime());
  return [...byMinute].map(([ms, some]) => ({
    minute: new Date(ms),
    all: sumOf(some),
    bad: sumOf(some.filter(({ label }) => isBad(label))),
  }));
}

function sumOf(rates: readonly RateOfMinute[]): number {
  return rates.reduce((sum, { count }) => sum + count, 0);
}

/** The state of the relays as the senders see it, and the relays' replies of the last hour. */
export function relaysTable(relays: readonly RelaySeen[], rates: readonly RateOfMinute[]): Html {
  const row = ({ relay, senders, up, seenAt, reason }: RelaySeen): Html =>
    html`<tr>
      <td>${relay}</td>
      <td class="wrap ${up < senders ? 'bad' : ''}">
        ${stateOf(up, senders)}${reason === null ? '' : html`: <bdi>${reason}</bdi>`}
      </td>
      <td class="n">${count(senders)}</td>
      <td>${time(seenAt)}</td>
    </tr>`;
  const none = html`<p class="bad">
    No sender has reported its relays in the last minute: none is running, or none reaches the database.
    Emails wait until one does.
  </p>`;
  return html`${relays.length === 0 ? none : table(['Relay', 'State', 'Senders', 'Seen (UTC)'], relays.map(row), ['Senders'])}
  ${replyCounts(rates)}`;
}

function stateOf(up: number, senders: number): string {
  if (up === senders) return 'takes emails';
  return up === 0 ? 'refuses us or cannot be reached' : `takes emails of ${up} of ${senders} senders`;
}

function replyCounts(rates: readonly RateOfMinute[]): Html {
  const byClass = Map.groupBy(
    rates.filter(({ what }) => what === 'reply'),
    ({ label }) => label,
  );
  if (byClass.size === 0) return html``;
  const answers = [...byClass].map(([label, some]) => `${label}: ${count(sumOf(some))}`).sort();
  return html`<p class="quiet">Answers of the last hour, by class: ${answers.join(', ')}.</p>`;
}
