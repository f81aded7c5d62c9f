import type { MinuteOfEmails, RateOfMinute, RelaySeen } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { count, table, time } from '../pages/components.ts';
import { relayTimes } from './relay-times.ts';
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

/** Over how many minutes it is measured how long relays take. */
const TIMED_MINUTES = 10;

/** The state of the relays as the senders see it, how long they take, and their replies of the last hour. */
export function relaysTable(relays: readonly RelaySeen[], rates: readonly RateOfMinute[], now: Date): Html {
  const since = new Date(now.getTime() - TIMED_MINUTES * 60_000);
  const timeCells = (relay: string): Html => {
    const times = relayTimes(rates, relay, since);
    return html`<td class="n" data-label="Half within">${durationText(times?.half)}</td>
      <td class="n" data-label="95 % within">${durationText(times?.most)}</td>`;
  };
  const row = ({ relay, senders, up, seenAt, reason }: RelaySeen): Html =>
    html`<tr>
      <td class="first">${relay}</td>
      <td class="wrap ${up < senders ? 'bad' : ''}">
        ${stateOf(up, senders)}${reason === null ? '' : html`: <bdi>${reason}</bdi>`}
      </td>
      ${timeCells(relay)}
      <td class="n" data-label="Senders">${count(senders)}</td>
      <td data-label="Seen (UTC)">${time(seenAt)}</td>
    </tr>`;
  const numbers = ['Half within', '95 % within', 'Senders'];
  const columns = ['Relay', 'State', ...numbers, 'Seen (UTC)'];
  const explained = html`<p class="quiet">
    Within how long it dealt with an email, in the last ${TIMED_MINUTES} minutes: in half of all cases, and in
    95 %.
  </p>`;
  return html`${relays.length === 0 ? html`<p class="quiet">None is known.</p>` : html`${table(columns, relays.map(row), numbers)} ${explained}`}
  ${replyCounts(rates)}`;
}

function durationText(seconds: number | undefined): string {
  if (seconds === undefined) return '–';
  if (seconds === Number.POSITIVE_INFINITY) return 'longer';
  return seconds < 1 ? `${seconds * 1_000} ms` : `${seconds} s`;
}

/** Whether a relay takes emails, of how many senders. */
export function stateOf(up: number, senders: number): string {
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
