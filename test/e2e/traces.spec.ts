import { afterAll, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ReceivedSpan, TraceCollector } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { newRecipient, validEmail, Stack, until, takesAll } from './stack.ts';
import { createTemplate } from './templates.ts';

const ROOT = join(import.meta.dirname, '../..');
const SECRET_SUBJECT = 'The subject that no trace may hold';
const SPAN = '00f067aa0ba902b7';

let collector: TraceCollector;
const stack = Stack.forTests(async () => {
  collector = await TraceCollector.start();
  return {
    receives: takesAll,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20collector-secret',
    },
  };
});
afterAll(() => collector.close());

const newTrace = (): string => randomBytes(16).toString('hex');
const spansOf = (traceId: string): ReceivedSpan[] =>
  collector.spans.filter((span) => span.traceId === traceId);
const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] =>
  spans.filter((span) => span.name === name);
const spansArrive = (traceId: string, name: string, count = 1): Promise<void> =>
  until(() => named(spansOf(traceId), name).length >= count, `${count} spans ${name} of the trace arrive`);

async function subscribe(path: string, events: string[]): Promise<void> {
  const answer = await stack.api().post('/v1/webhooks', { url: stack.receiver.url(path), events });
  expect(answer.status).toBe(200);
}

it('G6: One trace, which names the request, leads from it by the relay to the receiver of the webhook, and the turn is linked with it', async () => {
  await subscribe('/told', ['EMAIL_SENT']);
  const [traceId, to] = [newTrace(), newRecipient()];
  const traceparent = `00-${traceId}-${SPAN}-01`;
  const headers = { traceparent, 'X-Request-Id': 'asked-by.me_1' };
  const { body } = await stack.send({ to, subject: SECRET_SUBJECT }, { headers });
  await stack.onlyMailTo(to);
  await Promise.all([
    spansArrive(traceId, 'POST /v1/emails'),
    spansArrive(traceId, 'smtp send'),
    spansArrive(traceId, 'POST webhook'),
  ]);

  const spans = spansOf(traceId);
  const [request] = named(spans, 'POST /v1/emails');
  expect(request).toMatchObject({
    service: 'posthorn-gateway',
    parentSpanId: SPAN,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/v1/emails',
      'http.response.status_code': 200,
      'posthorn.request_id': 'asked-by.me_1',
    },
  });
  const [sent] = named(spans, 'smtp send');
  expect(sent).toMatchObject({
    service: 'posthorn-sender',
    parentSpanId: request!.spanId,
    attributes: {
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(stack.sink.url).port),
      'messaging.message.id': (body['email'] as { id: string }).id,
      'posthorn.smtp.reply_code': 250,
    },
  });
  const [posted] = named(spans, 'POST webhook');
  expect(posted).toMatchObject({
    service: 'posthorn-webhook-dispatcher',
    parentSpanId: request!.spanId,
    attributes: { 'posthorn.event.name': 'EMAIL_SENT', 'http.response.status_code': 200 },
  });
  expect(stack.receiver.postsTo('/told')[0]!.headers['traceparent']).toBe(
    `00-${traceId}-${posted!.spanId}-01`,
  );

  const [turnLink] = sent!.links;
  await spansArrive(turnLink!.traceId, 'email turn');
  const [turn] = spansOf(turnLink!.traceId);
  expect(turn).toMatchObject({
    service: 'posthorn-sender',
    spanId: turnLink!.spanId,
    attributes: { 'messaging.batch.message_count': 1 },
  });
  expect(turn!.links).toEqual([expect.objectContaining({ traceId, spanId: request!.spanId })]);
});

it('The emails of a batch have the trace context of their call, and a turn that serves them is linked with each', async () => {
  const traceId = newTrace();
  const emails = Array.from({ length: 20 }, () => validEmail());
  const headers = { traceparent: `00-${traceId}-${SPAN}-01` };
  expect((await stack.api().post('/v1/emails/batch', { emails }, { headers })).status).toBe(200);
  await spansArrive(traceId, 'smtp send', 20);
  const sends = named(spansOf(traceId), 'smtp send');
  const turns = () =>
    named(collector.spans, 'email turn').filter(({ links }) =>
      links.some((link) => link.traceId === traceId),
    );
  await until(() => turns().reduce((sum, { links }) => sum + links.length, 0) >= 20, 'the turns arrive');
  const ids = new Set(turns().map(({ spanId }) => spanId));
  expect(sends.every(({ links }) => links.length === 1 && ids.has(links[0]!.spanId))).toBe(true);
});

it('G6: A test email of a template belongs to the trace of its request', async () => {
  const traceId = newTrace();
  const template = await createTemplate(stack.api(), {}, stack.tenant.keys.editor);
  const answer = await stack
    .api()
    .post(
      `/v1/templates/${template.id}/test`,
      { to: newRecipient(), variables: { firstName: 'Ada' } },
      { headers: { traceparent: `00-${traceId}-${SPAN}-01` } },
    );
  const { id } = emailIn(answer);
  await spansArrive(traceId, 'smtp send');
  expect(named(spansOf(traceId), 'smtp send')[0]!.attributes).toMatchObject({ 'messaging.message.id': id });
});

it('The trace of a caller with the flag `not sampled` is not exported, and its webhooks get that flag', async () => {
  await subscribe('/untold', ['EMAIL_SENT']);
  const [traceId, to] = [newTrace(), newRecipient()];
  await stack.send({ to }, { headers: { traceparent: `00-${traceId}-${SPAN}-00` } });
  await stack.onlyMailTo(to);
  const ofTrace = () =>
    stack.receiver.postsTo('/untold').find(({ headers }) => String(headers['traceparent']).includes(traceId));
  await until(() => ofTrace() !== undefined, 'the webhook is told');
  expect(ofTrace()!.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  expect(spansOf(traceId)).toEqual([]);
});

it.each([
  ['nonsense', 'nonsense'],
  ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['8,000 characters', 'x'.repeat(8_000)],
])('A `traceparent` of %s changes nothing for its email', async (_what, traceparent) => {
  const to = newRecipient();
  expect((await stack.send({ to }, { headers: { traceparent } })).status).toBe(200);
  await stack.onlyMailTo(to);
});

it('No span contains an address, a subject, a URL, a key or the text of a reply', async () => {
  await until(() => named(collector.spans, 'POST webhook').length > 0, 'webhooks are told of');
  const text = JSON.stringify(collector.spans);
  for (const secret of [
    '@',
    SECRET_SUBJECT,
    stack.receiver.url(),
    stack.tenant.keys.apiUser,
    'collector-secret',
  ])
    expect(text).not.toContain(secret);
  expect(collector.requests.every(({ authorization }) => authorization === 'Bearer collector-secret')).toBe(
    true,
  );
  expect(stack.logs).not.toContain('collector-secret');
});

it('A collector that hangs delays neither emails nor the end of a process, and has the earlier spans', async () => {
  const gateway = await stack.startApp('gateway');
  const traceId = newTrace();
  const headers = {
    authorization: `Bearer ${stack.tenant.keys.viewer}`,
    traceparent: `00-${traceId}-${SPAN}-01`,
  };
  await fetch(`${gateway.url}/v1/emails`, { headers });
  expect((await gateway.program.stop()).code).toBe(0);
  await spansArrive(traceId, 'GET /v1/emails');
  expect(named(spansOf(traceId), 'GET /v1/emails')).toHaveLength(1);

  collector.behaviour = 'hangs';
  const to = newRecipient();
  await stack.send({ to });
  await stack.onlyMailTo(to);
  expect((await stack.gateways[0]!.program.stop()).code).toBe(0);
});

it('The tracing library is not loaded where no collector is set', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { openTracing, readSettings, TraceSettings } = await import('@posthorn/platform');
    const { traces } = readSettings({ traces: TraceSettings }, JSON.parse(process.argv[1]));
    const { tracer } = await openTracing(traces, 'test', { warn() {}, info() {} });
    console.log(JSON.stringify([tracer !== undefined, loaded.some((url) => url.includes('@opentelemetry/sdk-trace'))]));
    process.exit(0);`;
  const loadedWith = async (env: object): Promise<unknown> => {
    const flags = ['--input-type=module', '-e', script, JSON.stringify(env)];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { cwd: ROOT });
    return JSON.parse(stdout);
  };
  expect(await loadedWith({})).toEqual([false, false]);
  expect(await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).toEqual([true, true]);
});
