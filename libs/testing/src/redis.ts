import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, stackModule, type StartedServer } from './stack.ts';

/** A server that is not frozen answers within this time, even on a busy machine. */
const ANSWER_TIMEOUT_MS = 60_000;

/** The server that `npm test` started; each test file uses it with its own prefix. @throws when not started by it */
export function testRedisUrl(): string {
  const url = process.env.TEST_REDIS_URL;
  if (url === undefined)
    throw new Error('TEST_REDIS_URL is not set: run this test through `npm test -- <path>`.');
  return url;
}

/** A prefix that separates the queues of one test file from those of all others. */
export function uniqueQueuePrefix(): string {
  return `test-${randomBytes(6).toString('hex')}`;
}

export interface PrivateRedisOptions {
  /** Whether its data survives a restart. Default: no. */
  readonly durable?: boolean;
  /** Additional settings for `redis.conf`. */
  readonly settings?: Record<string, string>;
}

/** A Redis server that one test owns, and may stop, freeze, empty and start again at the same address. */
export class PrivateRedis {
  readonly url: string;
  readonly port: number;
  readonly #directory: string;
  readonly #options: PrivateRedisOptions;
  #server: StartedServer | undefined;

  private constructor(
    directory: string,
    options: PrivateRedisOptions,
    server: StartedServer & { url: string },
  ) {
    this.#directory = directory;
    this.#options = options;
    this.#server = server;
    this.url = server.url;
    this.port = server.port;
  }

  static async start(options: PrivateRedisOptions = {}): Promise<PrivateRedis> {
    const { startRedis } = await stackModule('redis');
    const directory = await mkdtemp(join(tmpdir(), 'posthorn-redis-'));
    const server = await startRedis({ directory, port: await freePort(), ...options });
    return new PrivateRedis(directory, options, server);
  }

  /** Stops it: connections are refused from now on. */
  async stop(): Promise<void> {
    this.thaw();
    await this.#server?.stop();
    this.#server = undefined;
  }

  /** Suspends the process: connections stay open, and nothing is answered. */
  freeze(): void {
    this.#server?.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#server?.child.kill('SIGCONT');
  }

  /** Deletes all data (FLUSHALL). */
  async flush(): Promise<void> {
    await this.ask('FLUSHALL');
  }

  /** The raw answer (RESP) to one command, such as `SCRIPT FLUSH`. @throws when it is an error */
  async ask(command: string): Promise<string> {
    const { askRedis } = await stackModule('redis');
    const answer = await askRedis(this.port, command, { withinMs: ANSWER_TIMEOUT_MS });
    if (answer.startsWith('-')) throw new Error(`Redis refused ${command}: ${answer}`);
    return answer;
  }

  /** Stops it and starts it again at the same port. */
  async restart(): Promise<void> {
    await this.stop();
    const { startRedis } = await stackModule('redis');
    const options = { directory: this.#directory, port: this.port, ...this.#options };
    this.#server = await startRedis(options);
  }

  /** Stops and removes everything. */
  async close(): Promise<void> {
    await this.stop();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
