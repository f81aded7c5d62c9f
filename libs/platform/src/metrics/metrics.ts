import { Counter, Gauge, Histogram, register } from 'prom-client';

// All metrics of this process. No label has unbounded values, such as workspaces, addresses, ids or URLs.

/** Functions that update gauges before each scrape. */
const scrapes: (() => void | Promise<void>)[] = [];

/** In seconds, from the headers of a request to the end of its response; also counts requests and errors. */
export const httpDuration = new Histogram({
  name: 'posthorn_http_request_duration_seconds',
  help: 'How long requests took, by method, route and status.',
  labelNames: ['method', 'route', 'status'],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
});

const httpInFlight = new Gauge({
  name: 'posthorn_http_requests_in_flight',
  help: 'Requests in work.',
});

/** Exposes the number of requests in flight. */
export function watchRequests(inFlight: { readonly requests: number }): void {
  scrapes.push(() => httpInFlight.set(inFlight.requests));
}

/**
 * Exposes the current limit of file descriptors. The default metric keeps the one at the start of the process; `prlimit` may have changed
 * it since, and the alert would never end.
 */
export function followFileLimit(read: () => Promise<{ readonly max: number } | undefined>): void {
  const name = 'process_max_fds';
  if (register.getSingleMetric(name) === undefined) return;
  register.removeSingleMetric(name);
  const limit = new Gauge({ name, help: 'Maximum number of open file descriptors.' });
  scrapes.push(async () => {
    const files = await read();
    if (files !== undefined) limit.set(files.max);
  });
}

/** Batch sizes: how well concurrent requests and rows share statements. */
export const groupSize = new Histogram({
  name: 'posthorn_group_size',
  help: 'How many went together: emails accepted in a transaction, rows claimed by a statement, outcomes recorded by one.',
  labelNames: ['what'],
  buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
});

export const emailOutcomes = new Counter({
  name: 'posthorn_email_outcomes_total',
  help: 'What became of attempts to send an email, as recorded.',
  labelNames: ['outcome'],
});

export const smtpReplies = new Counter({
  name: 'posthorn_smtp_replies_total',
  help: 'Answers of the relay, by what the table of replies takes them for.',
  labelNames: ['class'],
});

export const transmissionDuration = new Histogram({
  name: 'posthorn_smtp_transmission_duration_seconds',
  help: 'How long a relay took for an email, to its last answer or a fault, with connecting if no connection was kept.',
  labelNames: ['relay'],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
});

export const trackingHits = new Counter({
  name: 'posthorn_tracking_hits_total',
  help: 'Requests for images and links of tracked emails, by kind (open, click) and what became of them: recorded, forgotten because too many waited, or refused by the database.',
  labelNames: ['kind', 'result'],
});

export const inboundReports = new Counter({
  name: 'posthorn_inbound_reports_total',
  help: 'What returned mail and calls reported about emails, the first of each kind: failed, delayed, delivered, complaint, unrecognised.',
  labelNames: ['kind'],
});

export const inboundMails = new Counter({
  name: 'posthorn_inbound_mails_total',
  help: 'The mails that inbound has taken, by what they were: report, unsubscribe, automatic_reply, postmaster.',
  labelNames: ['kind'],
});

export const inboundRefusals = new Counter({
  name: 'posthorn_inbound_refusals_total',
  help: 'What inbound answered instead of taking a mail, by reason.',
  labelNames: ['reason'],
});

export const relayUp = new Gauge({
  name: 'posthorn_relay_up',
  help: '1 while the relay takes emails, 0 while it refuses us or cannot be reached.',
  labelNames: ['relay'],
});

export const webhookAttempts = new Counter({
  name: 'posthorn_webhook_attempts_total',
  help: 'Attempts to deliver an event: succeeded, or the class of the error.',
  labelNames: ['result'],
});

export const webhookDuration = new Histogram({
  name: 'posthorn_webhook_attempt_duration_seconds',
  help: 'How long receivers took, with everything from the name to the head of the answer.',
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
});

const poolConnections = new Gauge({
  name: 'posthorn_database_connections',
  help: 'Connections to Postgres: idle, or in use.',
  labelNames: ['state'],
});

const poolWaiting = new Gauge({
  name: 'posthorn_database_connection_waiters',
  help: 'How many wait for a connection to Postgres.',
});

/** The connections of a pool. */
export interface PoolState {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

/** Exposes the connection pool of this process. */
export function watchPool(pool: PoolState): void {
  scrapes.push(() => {
    poolConnections.set({ state: 'idle' }, pool.idleCount);
    poolConnections.set({ state: 'in_use' }, pool.totalCount - pool.idleCount);
    poolWaiting.set(pool.waitingCount);
  });
}

const backlogGauges = {
  dueLanes: backlogGauge('posthorn_due_lanes', 'Lanes with due work that are not paused.'),
  due: backlogGauge('posthorn_due_rows', 'Rows that are due, of the first hundred thousand.'),
  leased: backlogGauge(
    'posthorn_leased_rows',
    'Rows that a worker has in hand, of the first hundred thousand.',
  ),
  oldestDueSeconds: backlogGauge(
    'posthorn_oldest_due_seconds',
    'For how long the oldest due row has waited, in hand or not, that is neither paused nor a delivery to a slow receiver, by the clock of the database; 0: there is none.',
  ),
};

/** The backlog of a queue of the outbox. */
export type QueueBacklog = { readonly queue: string } & Readonly<Record<keyof typeof backlogGauges, number>>;

/** Exposes the backlog of the database; one process is enough. */
export function watchBacklog(measure: () => Promise<readonly QueueBacklog[]>): void {
  scrapes.push(async () => {
    // A scrape may be rendered while the next one measures, so the values stay until the next ones are known.
    let backlogs: readonly QueueBacklog[] = [];
    try {
      backlogs = await measure();
    } finally {
      for (const gauge of Object.values(backlogGauges)) gauge.reset();
    }
    for (const { queue, ...measured } of backlogs) {
      for (const [name, value] of Object.entries(measured)) {
        backlogGauges[name as keyof typeof backlogGauges].set({ queue }, value);
      }
    }
  });
}

function backlogGauge(name: string, help: string): Gauge<'queue'> {
  return new Gauge({ name, help, labelNames: ['queue'] });
}

const monthlyLimitUsed = new Gauge({
  name: 'posthorn_monthly_limit_used_ratio',
  help: 'The highest share of its monthly limit that a workspace has used in this month.',
});
// Without a label it would be 0 wherever it is not measured.
monthlyLimitUsed.remove();

/** Exposes how near a workspace is to its monthly limit; one process is enough. @param measure the highest share that is used */
export function watchMonthlyLimits(measure: () => Promise<number>): void {
  scrapes.push(async () => {
    try {
      monthlyLimitUsed.set(await measure());
    } catch (error) {
      monthlyLimitUsed.remove();
      throw error;
    }
  });
}

/**
 * All metrics in Prometheus' text format. Gauges that cannot be measured are omitted instead of keeping an old value, so that alerts can
 * notice.
 */
export async function metricsText(onError: (error: unknown) => void): Promise<string> {
  const settled = await Promise.allSettled(scrapes.map(async (refresh) => refresh()));
  for (const result of settled) if (result.status === 'rejected') onError(result.reason);
  return register.metrics();
}

/** The counters that are also shown in the dashboard, with the label that each is grouped by. */
const EXPOSED_COUNTERS = [
  { what: 'email', counter: emailOutcomes, by: 'outcome' },
  { what: 'reply', counter: smtpReplies, by: 'class' },
  { what: 'webhook', counter: webhookAttempts, by: 'result' },
  { what: 'report', counter: inboundReports, by: 'kind' },
] as const;

/** The values of these counters since this process started; of transmissions as `transmission`, by the upper limit of their bucket in seconds and the relay. */
export async function counterValues(): Promise<{ what: string; label: string; count: number }[]> {
  const read = async ({ what, counter, by }: (typeof EXPOSED_COUNTERS)[number]) => {
    const { values } = await (counter as Counter).get();
    return values.map(({ labels, value }) => ({ what, label: String(labels[by]), count: value }));
  };
  const counters = await Promise.all(EXPOSED_COUNTERS.map(read));
  return [...counters.flat(), ...(await transmissionCounts())];
}

/** How many transmissions each bucket has beyond the one before it: in a histogram, buckets include all lower ones. */
async function transmissionCounts(): Promise<{ what: string; label: string; count: number }[]> {
  const below = new Map<string, number>();
  const { values } = await transmissionDuration.get();
  return values.flatMap(({ metricName, labels, value }) => {
    if (!metricName?.endsWith('_bucket')) return [];
    const { le, relay } = labels as { readonly le: number | '+Inf'; readonly relay: string };
    const count = value - (below.get(relay) ?? 0);
    below.set(relay, value);
    return [{ what: 'transmission', label: `${le} ${relay}`, count }];
  });
}
