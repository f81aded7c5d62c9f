import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import PostalMime from 'postal-mime';
import { type AppName, wrongClock } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { DashboardVisitor } from './dashboard-visitor.ts';
import { TestIdentityProvider, Visitor } from './identity-provider.ts';
import { subscribe } from './receiving.ts';
import { newRecipient, Stack, until, takesAll } from './stack.ts';

const TEN_MINUTES = 600;
/** Far less than the clocks are wrong by, and more than a busy machine takes for anything here. */
const NEAR_MS = 200_000;
const SEEN_AT = 'http://dashboard.posthorn.example';
const CALLBACK = `${SEEN_AT}/sign-in/provider/callback`;

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const isNear = (time: string | number | Date): boolean =>
  Math.abs(new Date(time).getTime() - Date.now()) < NEAR_MS;

/** Neighbours in what they do together have opposite faults. */
describe.each([
  { ahead: ['sender', 'webhook-dispatcher'], behind: ['gateway', 'scheduler', 'dashboard'] },
  { ahead: ['gateway', 'scheduler', 'dashboard'], behind: ['sender', 'webhook-dispatcher'] },
] satisfies { ahead: AppName[]; behind: AppName[] }[])(
  'While the clocks of $ahead are ten minutes fast, and those of $behind slow',
  ({ ahead, behind }) => {
    let provider: TestIdentityProvider;
    const stack = Stack.forTests(async () => {
      provider = await TestIdentityProvider.start({ ada: { groups: ['operators'] } }, CALLBACK);
      return { gateways: 0, sends: false, dispatchers: 0, receives: takesAll };
    });
    beforeAll(async () => {
      const apps = await Promise.all(
        [...ahead, ...behind]
          .filter((name) => name !== 'dashboard')
          .map(async (name) => ({ name, app: await stack.startApp(name, clockOf(name)) })),
      );
      stack.gateways.push(apps.find(({ name }) => name === 'gateway')!.app);
      await subscribe(stack, stack.receiver.url('/hook'), { events: ['EMAIL_SENT'] });
    });
    afterAll(() => provider.close());

    function clockOf(name: AppName): ReturnType<typeof wrongClock> {
      return wrongClock((ahead as AppName[]).includes(name) ? TEN_MINUTES : -TEN_MINUTES);
    }

    it('G9, W6: an email is sent at once, and all of its times, and those of what is told about it, are right', async () => {
      const to = newRecipient();
      const { id } = emailIn(await stack.send({ to }));
      const { date } = await PostalMime.parse((await stack.onlyMailTo(to)).raw);
      const { createdAt, sentAt, timeline } = await stack.show(id);
      const times = [date, createdAt, sentAt, ...timeline.map((entry) => entry.createdAt)];
      expect(times.map((time) => isNear(String(time)))).toEqual(times.map(() => true));
      await until(() => stack.receiver.postsTo('/hook').length > 0, 'it is told');
      const { headers, body } = stack.receiver.postsTo('/hook')[0]!;
      expect(isNear(Number(headers['webhook-timestamp']) * 1_000)).toBe(true);
      expect(isNear((JSON.parse(body.toString()) as { createdAt: string }).createdAt)).toBe(true);
    });

    it('a scheduled email is sent when it is due', async () => {
      const to = newRecipient();
      const sendAt = inMs(4_000);
      expect(emailIn(await stack.send({ to, sendAt }))).toMatchObject({ status: 'SCHEDULED' });
      await stack.onlyMailTo(to);
      expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(sendAt));
      expect(isNear(sendAt)).toBe(true);
    });

    it('S10: what is too far in the past or in the future is judged by the time of the database', async () => {
      const day = 86_400_000;
      const answers = await Promise.all(
        [-240_000, -360_000, 90 * day - 60_000, 90 * day + 60_000].map((ms) =>
          stack.send({ sendAt: inMs(ms) }),
        ),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 400, 200, 400]);
    });

    it('operators sign in, with a password or through a provider whose tokens are valid for five minutes', async () => {
      const dashboard = await stack.startApp('dashboard', {
        ...clockOf('dashboard'),
        DASHBOARD_URL: SEEN_AT,
        TRUSTED_PROXIES: '127.0.0.1',
        OIDC_ISSUER: provider.issuer,
        OIDC_CLIENT_ID: provider.client.id,
        OIDC_CLIENT_SECRET: provider.client.secret,
        OIDC_SCOPES: 'openid profile groups',
        OIDC_OPERATOR_VALUES: 'operators',
      });
      const visitor = new Visitor();
      const back = await visitor.signInAtProvider(`${dashboard.url}/sign-in/provider`, 'ada', CALLBACK);
      await visitor.visit(back.replace(SEEN_AT, dashboard.url));
      expect(await (await visitor.visit(`${dashboard.url}/`)).text()).toContain('ada@127.0.0.1 (operator)');
      const other = await DashboardVisitor.signIn(stack, dashboard, 'grace', 'viewer');
      expect((await other.get('/')).status).toBe(200);
    });
  },
);
