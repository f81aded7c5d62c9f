import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppName, AppUnderTest, Exit, SinkMessage } from '@posthorn/testing';
import { Api, emailIn } from '../e2e/api.ts';
import { validEmail, Stack, until, takesAll } from '../e2e/stack.ts';

/** Twenty by hand: `ROLLING_ROUNDS=20 npm test -- test/chaos/rolling`. */
const ROUNDS = Number(process.env['ROLLING_ROUNDS'] ?? 3);
const CALLERS = 6;
const BETWEEN_CALLS_MS = 40;
const ROUND_MS = 240_000;
const BOUNCE_DOMAIN = 'bounces.example.com';

/** The apps in the order of an update; there are two gateways, and both are replaced. */
const APPS: readonly AppName[] = [
  'gateway',
  'gateway',
  'sender',
  'scheduler',
  'webhook-dispatcher',
  'inbound',
  'dashboard',
];

/** Published by `fetch` when it writes a request to its connection. */
const SENT = 'undici:client:sendHeaders';

interface Departure extends Exit {
  readonly app: AppName;
}

describe('Rolling restarts of every app under load', () => {
  /** The running processes of each app. Calls go to these gateways, as a Service routes to the ready pods. */
  const serving = new Map<AppName, AppUnderTest[]>();
  const accepted: string[] = [];
  const failures: string[] = [];
  const reported: string[] = [];
  /** By the URL of a gateway: how many calls it was given whose request is not sent yet. */
  const unsent = new Map<string, number>();
  let isOver = false;

  function countUnsent(url: string, more: number): void {
    unsent.set(url, (unsent.get(url) ?? 0) + more);
  }

  function noteSent(message: unknown): void {
    const { origin, path } = (message as { request: { origin: string | URL; path: string } }).request;
    if (path === '/v1/emails') countUnsent(new URL(origin).origin, -1);
  }

  afterAll(() => {
    isOver = true;
    unsubscribe(SENT, noteSent);
  });
  const stack = Stack.forTests({
    gateways: 2,
    receives: takesAll,
    env: {
      // Twenty rounds accept more than the default monthly limit.
      MONTHLY_EMAIL_LIMIT: '0',
      BOUNCE_DOMAIN,
      INBOUND_PORT: '0',
      INBOUND_HOST: '127.0.0.1',
    },
  });
  beforeAll(async () => {
    subscribe(SENT, noteSent);
    serving.set('gateway', [...stack.gateways]);
    serving.set('sender', [stack.sender]);
    serving.set('scheduler', [stack.scheduler]);
    serving.set('webhook-dispatcher', [...stack.dispatchers]);
    for (const app of ['inbound', 'dashboard'] as const) serving.set(app, [await start(app)]);
    await stack
      .api()
      .post(
        '/v1/webhooks',
        { url: stack.receiver.url('/hook'), events: ['EMAIL_SENT', 'EMAIL_BOUNCED'] },
        editor(),
      );
  });

  const editor = (): { key: string } => ({ key: stack.tenant.keys.editor });

  async function start(name: AppName): Promise<AppUnderTest> {
    const app = await stack.startApp(name);
    if (name === 'inbound') await app.program.waitForOutput('accepting returned mail');
    return app;
  }

  /** Starts the new process before it stops the old one, which gets no new calls by then. */
  async function replace(name: AppName): Promise<Departure> {
    const fresh = await start(name);
    const [old, ...others] = serving.get(name)!;
    serving.set(name, [...others, fresh]);
    // Usually at once. A gateway accepts calls for half a second after the signal, but these callers may stand still for longer before they send them.
    await until(() => (unsent.get(old!.url) ?? 0) <= 0, 'the calls that it was given are sent');
    old!.program.kill('SIGTERM');
    return { app: name, ...(await old!.program.exit) };
  }

  /** Calls one gateway after the other until the test is over. */
  async function call(caller: number): Promise<void> {
    for (let n = caller; !isOver; n += 1) {
      const gateways = serving.get('gateway')!;
      const api = new Api(gateways[n % gateways.length]!.url, stack.tenant.keys.apiUser);
      countUnsent(api.url, 1);
      try {
        const answer = await api.post('/v1/emails', validEmail());
        if (answer.status === 200) accepted.push(emailIn(answer).id);
        else failures.push(`${answer.status} ${answer.text}`);
      } catch (error) {
        failures.push(String((error as Error).cause ?? error));
      }
      await sleep(BETWEEN_CALLS_MS);
    }
  }

  /** Returns reports about some of the sent emails; retries when it is refused or cut off, as servers do. */
  async function report(): Promise<void> {
    while (!isOver) {
      // Usually one that is recorded by now.
      const message = stack.sink.messages.at(-50);
      const port = /"port":(\d+),"domain"/.exec(serving.get('inbound')!.at(-1)!.program.output)![1];
      if (message !== undefined && !reported.includes(message.from)) await bounce(message, Number(port));
      await sleep(BETWEEN_CALLS_MS);
    }
  }

  async function bounce({ from: to, to: [recipient] }: SinkMessage, port: number): Promise<void> {
    const mail = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true });
    try {
      await mail.sendMail({ envelope: { from: '', to }, raw: reportOn(recipient!) });
      reported.push(to);
    } catch {
      // Retried, about another email.
    }
  }

  it(
    'fail no request, lose nothing, double nothing, and each process exits in time',
    async () => {
      const load = [...Array.from({ length: CALLERS }, (_, n) => call(n)), report()];
      const departures: Departure[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        for (const app of APPS) departures.push(await replace(app));
      isOver = true;
      await Promise.all(load);
      await stack.settled();

      expect(failures).toEqual([]);
      // After its deadline it would have exited with 1. How long that takes is not measured here: Node then writes its compile cache, which takes long on a busy disk.
      expect(departures.filter(({ code }) => code !== 0)).toEqual([]);
      expect(departures).toHaveLength(ROUNDS * APPS.length);
      expect(accepted.length).toBeGreaterThan(ROUNDS * 100);

      const messageIds = stack.sink.messages.map(
        ({ raw }) => /^Message-ID: <(.*?)@/m.exec(raw.toString('latin1'))![1]!,
      );
      expect(messageIds.sort()).toEqual(accepted.map((id) => id.replace('trs_', '')).sort());
      expect(await stack.count('SELECT count(*) FROM email_events WHERE duplicate_possible')).toBe(0);

      const bounced = await stack.count(`SELECT count(*) FROM emails WHERE status = 'BOUNCED'`);
      expect(reported.length).toBeGreaterThan(ROUNDS);
      // A report whose answer was cut off may have been recorded: the repeated one counts only once.
      expect(bounced).toBeGreaterThanOrEqual(reported.length);
      await until(() => stack.receiver.inFlight === 0, 'every POST is answered');
      const told = stack.receiver.postsTo('/hook').map(({ headers }) => String(headers['webhook-id']));
      expect(new Set(told).size).toBe(told.length);
      expect(told).toHaveLength(accepted.length + bounced);
    },
    60_000 + ROUNDS * ROUND_MS,
  );
});

/** A delivery status notification (RFC 3464) about an email to this recipient. */
function reportOn(recipient: string): string {
  return [
    'From: <postmaster@receiver.example>',
    'Subject: Undelivered Mail Returned to Sender',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    '--b',
    'Content-Type: text/plain',
    '',
    'It could not be delivered.',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; receiver.example',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 no such user',
    '',
    '--b--',
    '',
  ].join('\r\n');
}
