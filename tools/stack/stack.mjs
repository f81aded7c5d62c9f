import { AppRunner } from './app-runner.mjs';
import { build } from './build.mjs';
import { checkedOut } from './checked-out.mjs';
import { migrate, summariseMigrations } from './migrate.mjs';
import { choosePorts } from './ports.mjs';
import { say, step } from './progress.mjs';
import { hideLogin, provideInbox, providePostgres, provideRedis } from './services.mjs';
import { provideKeyRing } from './secrets.mjs';
import { STACK_FILE, writeJson } from './state.mjs';
import { provideWorkspace } from './workspace.mjs';

export const PREFERRED_PORTS = {
  'gateway': 3000,
  'dashboard': 3001,
  'sender': 3002,
  'scheduler': 3003,
  'webhook-dispatcher': 3004,
  'inbound': 3005,
  'gateway metrics': 9464,
  'dashboard metrics': 9465,
  'sender metrics': 9466,
  'scheduler metrics': 9467,
  'webhook-dispatcher metrics': 9468,
  'inbound metrics': 9469,
  'inbound smtp': 2525,
  'inbox web': 8025,
  'inbox smtp': 1025,
  'postgres': 5433,
  'redis': 6380,
};

/**
 * The order of stopping, and how long each step may take in milliseconds; together less than the ten seconds allowed after a Ctrl-C. First
 * the sources of new work, then the workers, then the services that they depend on.
 */
const STOP_ORDER = [
  { apps: ['gateway', 'inbound'], withinMs: 2_000 },
  { apps: ['sender', 'webhook-dispatcher', 'scheduler'], withinMs: 3_500 },
  { apps: ['dashboard'], withinMs: 1_000 },
];

/** Never in the DNS (RFC 6761, section 6.3). */
const LOCAL_BOUNCE_DOMAIN = 'bounces.localhost';

/** The apps that are started. */
export const APPS = STOP_ORDER.flatMap(({ apps }) => apps);

/** All of Posthorn on this machine. */
export class Stack {
  #settings;
  /** @type {import('./services.mjs').Service[]} in the order in which they were started; stopped in reverse */
  #services = [];
  /** @type {Map<string, AppRunner>} */
  #apps = new Map();
  /** The contents of stack.json apart from the apps, once everything is up. @type {object | undefined} */
  #description;

  /** @param {Record<string, string>} settings of the environment and `.env` */
  constructor(settings) {
    this.#settings = settings;
  }

  /** Starts everything. @returns {Promise<any>} the contents of stack.json @throws when something does not become healthy */
  async start({ withBuild = true } = {}) {
    const release = await checkedOut();
    if (withBuild) await step('Build', build);
    const ports = await this.#choosePorts();
    /** @param {import('./services.mjs').Service} service */
    const show = ({ url, isOurs }) => (isOurs ? hideLogin(url) : `${hideLogin(url)}, as the settings say`);
    const start = async (title, provide) => {
      const service = await step(title, provide, show);
      this.#services.push(service);
      return service;
    };
    const postgres = await start('Postgres', () => providePostgres(this.#settings, ports.postgres));
    const redis = await start('Redis', () => provideRedis(this.#settings, ports.redis));
    const inbox = await start('Inbox', () =>
      provideInbox({
        smtp: ports['inbox smtp'],
        web: ports['inbox web'],
        returnedTo: this.#settings.INBOUND_PORT ?? ports['inbound smtp'],
      }),
    );
    await step('Migrations', () => migrate(postgres.url), summariseMigrations);
    const env = this.#appEnv({ postgres, redis, inbox, ports });
    await this.#startApps(env, ports);
    const apiUrl = this.#url('gateway');
    const workspace = await step(
      'Workspace and keys',
      () => provideWorkspace(apiUrl, env),
      ({ workspaceId }) => workspaceId,
    );
    this.#description = {
      release,
      apiUrl,
      dashboardUrl: this.#url('dashboard'),
      inbox: { smtpUrl: inbox.url, webUrl: inbox.webUrl },
      ...workspace,
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      smtpUrl: env.SMTP_URL,
      bounceDomain: env.BOUNCE_DOMAIN,
      inboundPort: env.INBOUND_PORT,
      publicUrl: env.PUBLIC_URL,
      systemFrom: env.SYSTEM_FROM,
    };
    return this.#writeStackFile();
  }

  async #choosePorts() {
    const { HTTP_PORT = String(PREFERRED_PORTS.gateway) } = this.#settings;
    const gateway = Number(HTTP_PORT);
    if (!Number.isInteger(gateway) || gateway < 1 || gateway > 65_535)
      throw new Error(`HTTP_PORT is ${JSON.stringify(HTTP_PORT)}: set it to a number from 1 to 65535.`);
    const wanted = { ...PREFERRED_PORTS, gateway };
    const ports = await choosePorts(wanted);
    for (const [name, port] of Object.entries(wanted)) {
      if (ports[name] !== port) say(`  ! port ${port} is taken: ${name} gets ${ports[name]}`);
    }
    return ports;
  }

  #appEnv({ postgres, redis, inbox, ports }) {
    return {
      HTTP_HOST: '127.0.0.1',
      LOG_LEVEL: 'info',
      SMTP_URL: inbox.url,
      PUBLIC_URL: `http://127.0.0.1:${ports.gateway}`,
      DASHBOARD_URL: `http://127.0.0.1:${ports.dashboard}`,
      SYSTEM_FROM: 'Posthorn <posthorn@example.com>',
      // For receivers on this machine, as developers have them.
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8,::1',
      INBOUND_HOST: '127.0.0.1',
      INBOUND_PORT: String(ports['inbound smtp']),
      // The inbox returns reports to it; a relay could not.
      ...(this.#settings.SMTP_URL === undefined && { BOUNCE_DOMAIN: LOCAL_BOUNCE_DOMAIN }),
      ...this.#settings,
      ENCRYPTION_KEYS: provideKeyRing(this.#settings),
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
    };
  }

  async #startApps(env, ports) {
    const starts = APPS.map((name) => {
      const metricsPort = ports[`${name} metrics`];
      const onRestart = () => this.#updateStackFile();
      const app = new AppRunner({ name, port: ports[name], metricsPort, env, onRestart });
      this.#apps.set(name, app);
      return step(
        name,
        () => app.start(),
        () => app.url,
      );
    });
    // Waits for all, so that each can report what is wrong before everything is stopped.
    const outcomes = await Promise.allSettled(starts);
    const reasons = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason.message] : [],
    );
    if (reasons.length > 0) throw new Error(reasons.join('\n\n'));
  }

  #url(app) {
    return /** @type {AppRunner} */ (this.#apps.get(app)).url;
  }

  #writeStackFile() {
    const apps = [...this.#apps.values()].map(({ name, pid, logFile, healthUrl, metricsUrl }) => [
      name,
      { pid, logFile, healthUrl, metricsUrl },
    ]);
    const contents = { ...this.#description, apps: Object.fromEntries(apps) };
    writeJson(STACK_FILE, contents);
    return contents;
  }

  /** When the new pid cannot be written, as on a full disk, everything keeps running. */
  #updateStackFile() {
    // Before everything is up, there is no stack.json yet; its first version will have the new pid.
    if (this.#description === undefined) return;
    try {
      this.#writeStackFile();
    } catch (error) {
      say(`${STACK_FILE} does not have the new pid: ${error.message}`);
    }
  }

  /** Stops everything, in order, within ten seconds. */
  async stop() {
    for (const { apps, withinMs } of STOP_ORDER) {
      await Promise.all(apps.map(async (name) => this.#apps.get(name)?.stop(withinMs)));
    }
    for (const service of this.#services.reverse()) await service.stop();
  }
}
