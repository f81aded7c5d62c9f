import { afterAll, beforeAll } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { domainToUnicode } from 'node:url';
import { operator, type LimitOverrides, POSTHORN } from '@posthorn/domain';
import { DatabaseClock, type EmailId, SYSTEM_WORKSPACE_ID, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  ApiKeyStore,
  type Database,
  waitForDatabase,
  IdentityStore,
  openDatabase,
  WorkspaceStore,
} from '@posthorn/database';
import {
  type AppName,
  type AppUnderTest,
  createTestDatabase,
  PATIENT_LIMITS,
  type SinkMessage,
  SmtpSink,
  type SmtpSinkOptions,
  startApp,
  testRedisUrl,
  uniqueQueuePrefix,
  WebhookReceiver,
} from '@posthorn/testing';
import { addIdentity, createApiKey, createWorkspace, limitWorkspace } from '@posthorn/use-cases/operate';
import { Api, type Answer, emailIn, type RequestOptions, type ShownEmail } from './api.ts';
import { avoidEndOfMonth } from './times.ts';

const POLL_INTERVAL_MS = 25;
const POOL_OF_TESTS = 4;
/** How long to wait by default: rows of a process that died are claimed again only after a lease and its grace period, 75 s. */
const WAIT_TIMEOUT_MS = 180_000;

/** The actor of tests in the audit log. */
export const TESTS = operator('tests');

/** Settings that allow webhooks over HTTP to loopback addresses. */
export const ALLOW_LOOPBACK_WEBHOOKS = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
};

/** A receiver of webhooks that takes all of them at once. */
export const takesAll: WebhookReceiver['answer'] = () => ({ status: 200 });

type Env = Record<string, string | undefined>;

/** How the stack of a test file is set up. */
export interface StackOptions {
  /** The number of gateways. Default: 1. */
  readonly gateways?: number;
  /** Whether emails are sent: a sender and a scheduler run. Default: yes. */
  readonly sends?: boolean;
  /** The number of webhook dispatchers. Default: 1 for a receiver, otherwise none. */
  readonly dispatchers?: number;
  /** Default: a new database on the server of `npm test`. */
  readonly databaseUrl?: string;
  /** The database URL of the gateways, for instance through a proxy. Default: that of the other apps. */
  readonly gatewayDatabaseUrl?: string;
  /** Default: the server of `npm test`. */
  readonly redisUrl?: string;
  readonly sink?: SmtpSinkOptions;
  /** How the {@link Stack.receiver} of webhooks answers, to which the apps may then post. Default: there is none. */
  readonly receives?: WebhookReceiver['answer'];
  /** Makes `SMTP_URL` from the sink's URL. Default: the same URL. */
  readonly smtpUrl?: (url: string) => string;
  /** Additional settings of every app. */
  readonly env?: Env;
}

/** The role of a key. */
export type Role = 'viewer' | 'apiUser' | 'editor';

/** A workspace with a verified `example.com` and a key of each role. */
export interface Tenant {
  readonly workspaceId: WorkspaceId;
  readonly keys: Readonly<Record<Role, string>>;
}

/** All of Posthorn for one test file: built apps as processes, with a database and queues of their own. */
export class Stack {
  readonly gateways: AppUnderTest[] = [];
  /** The default tenant of requests. */
  tenant!: Tenant;
  sink!: SmtpSink;
  sender!: AppUnderTest;
  scheduler!: AppUnderTest;
  readonly dispatchers: AppUnderTest[] = [];
  /** Receives webhooks, if that is an option of the stack. */
  receiver!: WebhookReceiver;
  private db!: Database;
  private options!: StackOptions;
  private env!: Env;
  private readonly apps: AppUnderTest[] = [];
  /** Clean-up actions, run in reverse order. */
  private readonly undo: (() => unknown)[] = [];

  /**
   * A stack that runs during the tests of the file or of the `describe` in which this is called.
   *
   * @param options those that depend on something else are made by a function, which starts that; it is closed in an `afterAll` below
   */
  static forTests(options: StackOptions | (() => StackOptions | Promise<StackOptions>) = {}): Stack {
    const stack = new Stack();
    beforeAll(async () => stack.startAll(typeof options === 'function' ? await options() : options));
    afterAll(() => stack.close());
    return stack;
  }

  /** For a stack of one test. */
  static async start(options: StackOptions = {}): Promise<Stack> {
    const stack = new Stack();
    try {
      await stack.startAll(options);
      return stack;
    } catch (error) {
      await stack.close();
      throw error;
    }
  }

  /** A connection to the database for the tests. */
  get database(): Database {
    return this.db;
  }

  get databaseUrl(): string {
    return this.env['DATABASE_URL']!;
  }

  /** Everything that the apps have logged so far. */
  get logs(): string {
    const workers = [this.sender, this.scheduler, ...this.dispatchers];
    const apps = [...this.gateways, ...workers].filter((app) => app !== undefined);
    return apps.map((app) => app.program.output).join('');
  }

  /** The API of one of the gateways, with the tenant's `API_USER` key. */
  api(gateway = 0): Api {
    return new Api(this.gateways[gateway]!.url, this.tenant.keys.apiUser);
  }

  /** The API of the first gateway, with another key. */
  apiAs(key: string): Api {
    return new Api(this.gateways[0]!.url, key);
  }

  /** Starts another app, which is stopped with the stack. */
  async startApp(name: AppName, env: Env = {}): Promise<AppUnderTest> {
    const app = await startApp(name, { ...this.env, ...env });
    this.apps.push(app);
    return app;
  }

  /** Adds a workspace. */
  async createTenant(name: string, monthlyLimit: number | null = null): Promise<Tenant> {
    // All emails of the test must count for the same month.
    if (monthlyLimit !== null) await avoidEndOfMonth();
    // Created a minute ago: clocks may differ by milliseconds, and whatever a gateway creates must be newer.
    const aMinuteAgo = { ...this.db, clock: new DatabaseClock() };
    aMinuteAgo.clock.observe(Date.now() - 60_000, performance.now());
    const workspace = await createWorkspace(new WorkspaceStore(aMinuteAgo), TESTS, name, monthlyLimit);
    const keys = new ApiKeyStore(aMinuteAgo);
    const secretOf = async (role: string): Promise<string> =>
      (await createApiKey(keys, workspace.id, TESTS, { displayName: role, role })).secretKey;
    await addIdentity(new IdentityStore(aMinuteAgo), workspace.id, POSTHORN, {
      domain: 'example.com',
      verified: true,
    });
    return {
      workspaceId: workspace.id,
      keys: {
        editor: await secretOf('EDITOR'),
        apiUser: await secretOf('API_USER'),
        viewer: await secretOf('VIEWER'),
      },
    };
  }

  async setRates(id: WorkspaceId, rates: Pick<LimitOverrides, 'ratePerSecond' | 'rateBurst'>): Promise<void> {
    await limitWorkspace(new WorkspaceStore(this.db), id, TESTS, rates);
  }

  /** Sends a valid raw email with the fields of `change` replaced. */
  send(change: Record<string, unknown> = {}, options: RequestOptions = {}): Promise<Answer> {
    return this.api().post('/v1/emails', { ...validEmail(), ...change }, options);
  }

  /** The email, as the API shows it. */
  async show(id: string): Promise<ShownEmail> {
    return emailIn<ShownEmail>(await this.api().get(`/v1/emails/${id}`));
  }

  /** The number that a query selects as `count`. */
  async count(sql: string, values: unknown[] = []): Promise<number> {
    const { rows } = await this.db.pool.query<{ count: number }>(sql, values);
    return Number(rows[0]!.count);
  }

  /** The outbox row of an email; undefined once it is done. */
  async outboxRow(id: string): Promise<{ state: string; attempts: number; due_at: Date } | undefined> {
    const sql = 'SELECT state, attempts, due_at FROM outbox WHERE subject_id = $1';
    const { rows } = await this.db.pool.query(sql, [uuidOf(id as EmailId)]);
    return rows[0] as { state: string; attempts: number; due_at: Date } | undefined;
  }

  /** Makes an email due now that is scheduled or waits for its next attempt. */
  async makeDue(id: string): Promise<void> {
    const sql = `UPDATE outbox SET due_at = now() WHERE subject_id = $1 AND state = 'waiting'`;
    await this.db.pool.query(sql, [uuidOf(id as EmailId)]);
  }

  /** The time between the last entry of an email's timeline and its next attempt, in seconds. */
  async dueAfterSeconds(id: string): Promise<number> {
    const { timeline } = await this.show(id);
    const row = await this.outboxRow(id);
    return (row!.due_at.getTime() - Date.parse(timeline.at(-1)!.createdAt)) / 1_000;
  }

  /** Waits until the outbox is empty, so that no more mail will arrive. */
  async settled(withinMs = WAIT_TIMEOUT_MS): Promise<void> {
    await until(
      async () => (await this.count('SELECT count(*)::int FROM outbox')) === 0,
      'the outbox is empty',
      withinMs,
    );
  }

  /** The mails that have arrived for an address. Its domain is given in ASCII; the sink stores it in Unicode. */
  mailsTo(address: string): SinkMessage[] {
    const [local, domain] = address.split('@');
    const shown = `${local}@${domainToUnicode(domain!)}`;
    return this.sink.messages.filter((message) => message.to.includes(shown));
  }

  /** Waits for the mail to an address, and until its outcome is recorded. @throws when more than one has arrived by then */
  async onlyMailTo(address: string): Promise<SinkMessage> {
    await until(() => this.mailsTo(address).length > 0, `a mail to ${address} arrives`);
    await until(
      async () =>
        (await this.count(
          'SELECT count(*)::int FROM outbox JOIN emails ON id = subject_id WHERE to_address = $1',
          [address],
        )) === 0,
      `the mail to ${address} is recorded`,
    );
    const mails = this.mailsTo(address);
    if (mails.length !== 1) throw new Error(`${mails.length} mails arrived for ${address}`);
    return mails[0]!;
  }

  /** The path of the link in the newest of Posthorn's own mails to an address, read from the database. */
  async linkMailedTo(address: string): Promise<string> {
    const { rows } = await this.db.pool.query<{ text: string }>(
      `SELECT c.text FROM emails e JOIN email_contents c ON c.email_id = e.id
       WHERE  e.workspace_id = $1 AND e.to_address = $2 ORDER BY e.id DESC LIMIT 1`,
      [uuidOf(SYSTEM_WORKSPACE_ID), address],
    );
    const link = /https?:\/\/\S+/.exec(rows[0]?.text ?? '');
    if (link === null) throw new Error(`no mail of Posthorn with a link is there for ${address}`);
    return new URL(link[0]).pathname;
  }

  /** Stops the apps, all at once, and then removes everything else, in reverse order of creation. */
  async close(): Promise<void> {
    const running = this.apps.splice(0).filter(({ program }) => !program.hasEnded);
    await Promise.all(running.map(({ program }) => program.stop()));
    for (const action of this.undo.splice(0).reverse()) await action();
  }

  private async startAll(options: StackOptions): Promise<void> {
    this.options = options;
    this.env = environmentFor(options);
    this.sink = await SmtpSink.start(options.sink);
    this.undo.push(() => this.sink.close());
    this.env['SMTP_URL'] = options.smtpUrl?.(this.sink.url) ?? this.sink.url;
    if (options.receives !== undefined) {
      this.receiver = await WebhookReceiver.start(options.receives);
      this.undo.push(() => this.receiver.close());
    }
    await this.prepareDatabase();
    this.tenant = await this.createTenant('End to end');
    await this.startApps();
  }

  private async prepareDatabase(): Promise<void> {
    let url = this.options.databaseUrl;
    let limits = {};
    if (url === undefined) {
      const created = await createTestDatabase();
      this.undo.push(() => created.drop());
      url = created.url;
      limits = PATIENT_LIMITS;
    }
    this.env['DATABASE_URL'] = url;
    this.db = openDatabase({ url, poolSize: POOL_OF_TESTS, applicationName: 'posthorn-e2e', limits });
    this.undo.push(() => this.db.close());
    await waitForDatabase(this.db);
  }

  private async startApps(): Promise<void> {
    const gatewayEnv =
      this.options.gatewayDatabaseUrl === undefined ? {} : { DATABASE_URL: this.options.gatewayDatabaseUrl };
    const gateways = Array.from({ length: this.options.gateways ?? 1 }, () =>
      this.startApp('gateway', gatewayEnv),
    );
    const workers = this.options.sends === false ? [] : [this.startApp('sender'), this.startApp('scheduler')];
    // Waits for all of them, so that each is stopped when another fails to start.
    const dispatchers = Array.from(
      { length: this.options.dispatchers ?? (this.options.receives ? 1 : 0) },
      () => this.startApp('webhook-dispatcher'),
    );
    const started = await Promise.allSettled([...gateways, ...workers, ...dispatchers]);
    for (const result of started) if (result.status === 'rejected') throw result.reason;
    this.gateways.push(...(await Promise.all(gateways)));
    this.dispatchers.push(...(await Promise.all(dispatchers)));
    const [sender, scheduler] = await Promise.all(workers);
    if (sender !== undefined) this.sender = sender;
    if (scheduler !== undefined) this.scheduler = scheduler;
  }
}

/** The settings of all apps, without the URLs of what is started for them. */
function environmentFor({ redisUrl, receives, env }: StackOptions): Env {
  return {
    REDIS_URL: redisUrl ?? testRedisUrl(),
    QUEUE_PREFIX: uniqueQueuePrefix(),
    HTTP_HOST: '127.0.0.1',
    ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
    SYSTEM_FROM: 'Posthorn <posthorn@example.com>',
    // The same for all apps, as in production; by default it would depend on each app's port.
    TRACKING_URL: 'https://links.posthorn.example',
    // Nothing listens there: no test may ask the machine's name servers.
    DNS_SERVERS: '127.0.0.1:1',
    DATABASE_POOL_SIZE: '6',
    CLOCK_TICK_MS: '200',
    LOG_LEVEL: 'info',
    // Tests call as fast as they can; those about rate limits set their own.
    RATE_LIMIT_PER_SECOND: '0',
    FAILED_AUTHENTICATIONS_PER_MINUTE: '0',
    ...(receives && ALLOW_LOOPBACK_WEBHOOKS),
    ...env,
  };
}

/** Waits until a condition is true. @param what the condition in words, for the error @throws when it takes too long */
export async function until(
  condition: () => Promise<boolean> | boolean,
  what: string,
  withinMs = WAIT_TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
    await sleep(POLL_INTERVAL_MS);
  }
}

/** A unique recipient. */
export function newRecipient(): string {
  return `${randomBytes(6).toString('hex')}@receiver.example`;
}

/** A valid raw email with only the required fields, to a unique recipient. */
export function validEmail(): { from: string; to: string; subject: string; html: string } {
  return { from: 'sender@example.com', to: newRecipient(), subject: 'Hello', html: '<p>Hello</p>' };
}
