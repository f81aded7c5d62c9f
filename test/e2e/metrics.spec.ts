import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type AppUnderTest, freePort } from '@posthorn/testing';
import { parse } from 'yaml';
import { Stack, until, takesAll } from './stack.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { groups } = parse(read('observe/prometheus/alerts.yaml')) as {
  groups: { rules: { expr: string }[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(read('observe/grafana/dashboards/posthorn.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};

/** The labels that a metric may have: each has few values, however many workspaces, emails and receivers there are. */
const BOUNDED_LABELS = [
  ...[
    'class',
    'kind',
    'method',
    'outcome',
    'queue',
    'reason',
    'relay',
    'result',
    'route',
    'state',
    'status',
    'what',
  ],
  // Of prom-client, about buckets and the Node process.
  ...['le', 'quantile', 'type', 'space', 'version', 'major', 'minor', 'patch'],
];

const stack = Stack.forTests({ receives: takesAll });

async function scrape(app: { readonly metricsUrl: string }): Promise<string> {
  const response = await fetch(app.metricsUrl);
  expect(response.status).toBe(200);
  return response.text();
}

/** One that has taken a mail, and refused another. */
async function startUsedInbound(): Promise<AppUnderTest> {
  const [domain, host, port] = ['bounces.example.com', '127.0.0.1', await freePort()];
  const settings = { BOUNCE_DOMAIN: domain, INBOUND_HOST: host, INBOUND_PORT: String(port) };
  const inbound = await stack.startApp('inbound', settings);
  await inbound.program.waitForOutput('accepting returned mail');
  const transport = createTransport({ host, port, ignoreTLS: true });
  const bring = (to: string): Promise<unknown> =>
    transport.sendMail({ envelope: { from: '', to }, raw: 'Subject: Hello\r\n\r\n' });
  await bring(`postmaster@${domain}`);
  await expect(bring(`nobody@${domain}`)).rejects.toMatchObject({ responseCode: 550 });
  return inbound;
}

async function scrapeAll(): Promise<string> {
  const more = await Promise.all([stack.startApp('dashboard'), startUsedInbound()]);
  const apps = [stack.gateways[0]!, stack.sender, stack.scheduler, stack.dispatchers[0]!, ...more];
  return (await Promise.all(apps.map(scrape))).join('\n');
}

/** The value of a sample; undefined if there is none. */
function valueOf(text: string, sample: string): number | undefined {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${sample} `));
  return line === undefined ? undefined : Number(line.slice(sample.length + 1));
}

/** Waits until an app has a sample of what happened once. */
const counts = (app: { readonly metricsUrl: string }, sample: string): Promise<void> =>
  until(async () => valueOf(await scrape(app), sample) === 1, `${sample} is 1`);

function namesIn(expressions: readonly string[]): string[] {
  const names = expressions.flatMap(
    (expression) => expression.match(/\b(?:posthorn|nodejs|process)_[a-z0-9_]+/g) ?? [],
  );
  return [...new Set(names)];
}

describe('the metrics of a running stack', () => {
  let text: string;
  beforeAll(async () => {
    const url = stack.receiver.url('/ok');
    await stack.api().post('/v1/webhooks', { url, events: ['EMAIL_SENT'] });
    await stack.send();
    await stack.api().get('/v1/nowhere/trs_01jd0000000000000000000000');
    const told = 'posthorn_webhook_attempts_total{result="succeeded"}';
    await until(
      async () => (valueOf(await scrape(stack.dispatchers[0]!), told) ?? 0) >= 1,
      'the webhook is told of it',
    );
    // A process counts an action a moment after its effect is visible.
    const requests = 'posthorn_http_request_duration_seconds_count';
    await counts(stack.sender, 'posthorn_email_outcomes_total{outcome="sent"}');
    await counts(stack.sender, 'posthorn_smtp_replies_total{class="sent"}');
    await counts(stack.gateways[0]!, `${requests}{method="POST",route="/v1/emails",status="200"}`);
    await counts(stack.gateways[0]!, `${requests}{method="GET",route="none",status="404"}`);
    text = await scrapeAll();
  });

  it('have samples of every metric that alerts and dashboards name', () => {
    const expressions = [
      ...alerts.map(({ expr }) => expr),
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ];
    const names = namesIn(expressions);
    expect(names.length).toBeGreaterThan(15);
    const missing = names.filter((name) => !new RegExp(`^${name}(\\{| )`, 'm').test(text));
    expect(missing).toEqual([]);
  });

  it('count the request, the email, the reply and the delivery', () => {
    expect(
      valueOf(
        text,
        'posthorn_http_request_duration_seconds_count{method="POST",route="/v1/emails",status="200"}',
      ),
    ).toBe(1);
    expect(valueOf(text, 'posthorn_email_outcomes_total{outcome="sent"}')).toBe(1);
    expect(valueOf(text, 'posthorn_smtp_replies_total{class="sent"}')).toBe(1);
    expect(valueOf(text, 'posthorn_group_size_sum{what="accept"}')).toBe(1);
    expect(text).toMatch(/^posthorn_smtp_transmission_duration_seconds_count\{relay="[^"]+"\} 1$/m);
    expect(text).toMatch(/^posthorn_relay_up\{relay="[^"]+"\} 1$/m);
    expect(text.match(/^posthorn_relay_up/gm)).toHaveLength(1);
    expect(valueOf(text, 'posthorn_oldest_due_seconds{queue="email"}')).toBe(0);
  });

  it('have no label with unlimited values: unknown paths share one value, and no id is a value', () => {
    expect(
      valueOf(text, 'posthorn_http_request_duration_seconds_count{method="GET",route="none",status="404"}'),
    ).toBe(1);
    const labels = new Set([...text.matchAll(/[{,]([a-z]+)="/g)].map(([, name]) => name!));
    expect([...labels].filter((name) => !BOUNDED_LABELS.includes(name))).toEqual([]);
    expect(text).not.toMatch(/(trs|wrk|key|whk|ctc)_[0-9a-hjkmnp-tv-z]{26}|@/);
  });

  it('are served only at their own port, which serves nothing else', async () => {
    expect((await stack.api().get('/metrics')).status).toBe(404);
    expect((await fetch(new URL('/', stack.sender.metricsUrl))).status).toBe(404);
    expect((await fetch(stack.sender.metricsUrl, { method: 'POST' })).status).toBe(404);
  });

  it('show how long the oldest due row has waited, without paused lanes and slow receivers', async () => {
    const { pool } = stack.database;
    const oldest = async (queue: string): Promise<number> =>
      valueOf(await scrape(stack.scheduler), `posthorn_oldest_due_seconds{queue="${queue}"}`)!;
    const put = (queue: string, lane: string, isInHand = false): Promise<unknown> =>
      pool.query(
        `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at, lease_until) VALUES (gen_random_uuid(), $1, $2, $3, now() - interval '90 s', $4)`,
        [queue, lane, ...(isInHand ? ['taken', 'infinity'] : ['ready', null])],
      );
    await stack.sender.program.stop();
    await pool.query("INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('email', 'held', 'test')");
    await pool.query("INSERT INTO slow_lanes (lane_id) VALUES ('slow')");
    await Promise.all([put('email', 'held'), put('webhook', 'slow'), put('webhook', 'slow', true)]);
    expect([await oldest('email'), await oldest('webhook')]).toEqual([0, 0]);
    for (const isInHand of [true, false]) {
      await Promise.all([put('email', 'not-held', isInHand), put('webhook', 'not-slow', isInHand)]);
      expect(await oldest('email')).toBeGreaterThanOrEqual(90);
      expect(await oldest('webhook')).toBeGreaterThanOrEqual(90);
      await pool.query("DELETE FROM outbox WHERE lane_id LIKE 'not-%'");
    }
  });
});
