import { randomBytes } from 'node:crypto';
import {
  type AppName,
  FaultProxy,
  freePort,
  PrivatePostgres,
  PrivateRedis,
  WebhookReceiver,
} from '@posthorn/testing';
import { ALLOW_LOOPBACK_WEBHOOKS, Stack } from '../../e2e/stack.ts';
import { Place } from '../places.ts';
import { LEASES_FOR_KILLS } from '../short-leases.ts';
import { misbehavingReceiver, misbehavingRelay } from './misbehaviour.ts';
import { Random } from './random.ts';

const ALL_APPS: readonly AppName[] = [
  'gateway',
  'sender',
  'scheduler',
  'webhook-dispatcher',
  'inbound',
  'dashboard',
];

interface ClusterOptions {
  /** Of which apps there are two. Default: all. */
  readonly apps?: readonly AppName[];
  /** The folder of the programs of Postgres, as in `PrivatePostgres.start`. */
  readonly binaries?: string | undefined;
}

/** The apps encrypt with the first key; operators re-encrypt with either. */
const KEYS = ['one', 'two'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);

/** The share of the POSTs that each receiver hangs up on, and of those that it refuses. */
const RECEIVERS = [0.02, 0.1, 0.3];

/** Two of each app, with everything around them that can fail. */
export class Cluster {
  readonly places: Place[] = [];

  private constructor(
    readonly stack: Stack,
    public postgres: PrivatePostgres,
    readonly redis: PrivateRedis,
    readonly receivers: readonly WebhookReceiver[],
    /** Before the relay. */
    readonly relay: FaultProxy,
    /** Before Redis. */
    readonly redisWay: FaultProxy,
    /** Before Postgres: one for the first of each app, one for the second. */
    readonly databaseWays: readonly FaultProxy[],
    /** Before Postgres, for the test itself. */
    private readonly ownWay: FaultProxy,
    /** Of the two servers that take returned mail. */
    readonly inboundPorts: readonly number[],
  ) {}

  static async start({ apps = ALL_APPS, binaries }: ClusterOptions = {}): Promise<Cluster> {
    const sinkPort = await freePort();
    const [postgres, redis, relay] = await Promise.all([
      PrivatePostgres.start(binaries === undefined ? {} : { binaries }),
      PrivateRedis.start(),
      FaultProxy.before(`smtp://127.0.0.1:${sinkPort}`),
    ]);
    const receivers = await Promise.all(
      RECEIVERS.map((share, n) =>
        WebhookReceiver.start(misbehavingReceiver(new Random(`receiver ${n}`), share)),
      ),
    );
    const ownWay = await FaultProxy.before(postgres.url);
    const databaseWays = [await FaultProxy.before(postgres.url), await FaultProxy.before(postgres.url)];
    const redisWay = await FaultProxy.before(redis.url);
    const stack = await Stack.start({
      gateways: 0,
      sends: false,
      databaseUrl: ownWay.urlFor(postgres.url),
      redisUrl: redisWay.urlFor(redis.url),
      sink: { port: sinkPort, script: misbehavingRelay(new Random('relay')) },
      smtpUrl: (url) => relay.urlFor(url),
      // Minutes of calls are more than the default limit of a month.
      env: {
        ...ALLOW_LOOPBACK_WEBHOOKS,
        ...LEASES_FOR_KILLS,
        MONTHLY_EMAIL_LIMIT: '0',
        ENCRYPTION_KEYS: KEYS.join(),
        BOUNCE_DOMAIN: 'bounces.example.com',
        INBOUND_HOST: '127.0.0.1',
      },
    });
    const inboundPorts = [await freePort(), await freePort()];
    const cluster = new Cluster(
      stack,
      postgres,
      redis,
      receivers,
      relay,
      redisWay,
      databaseWays,
      ownWay,
      inboundPorts,
    );
    await cluster.takePlaces(apps);
    return cluster;
  }

  private async takePlaces(apps: readonly AppName[]): Promise<void> {
    const { stack, postgres } = this;
    const taken = apps.flatMap((name) =>
      this.databaseWays.map((way, n) =>
        Place.take(stack, name, {
          DATABASE_URL: way.urlFor(postgres.url),
          INBOUND_PORT: String(this.inboundPorts[n]),
        }),
      ),
    );
    this.places.push(...(await Promise.all(taken)));
  }

  /** The key ring with each of its keys first. */
  readonly keyRings = [KEYS, KEYS.toReversed()].map((keys) => keys.join());

  /** Loses the database, and lets everybody find another one at its address. @param restore makes it, while nobody reaches either */
  async replaceDatabase(restore: () => Promise<PrivatePostgres>): Promise<void> {
    const ways = [...this.databaseWays, this.ownWay];
    await Promise.all(ways.map((way) => way.refuse()));
    const lost = this.postgres;
    this.postgres = await restore();
    for (const way of ways) way.redirectTo(this.postgres.url);
    await Promise.all(ways.map((way) => way.heal()));
    await lost.close();
  }

  /** From now on the relay and the receivers take everything. */
  calm(): void {
    this.stack.sink.script = () => undefined;
    for (const receiver of this.receivers) receiver.answer = () => ({ status: 200 });
  }

  async close(): Promise<void> {
    await this.stack.close();
    const rest = [
      ...this.receivers,
      this.relay,
      this.redisWay,
      ...this.databaseWays,
      this.ownWay,
      this.redis,
      this.postgres,
    ];
    await Promise.all(rest.map((one) => one.close()));
  }
}
