import type { ChildProcess } from 'node:child_process';

/** A server of our own, as `tools/stack` starts it. */
export interface StartedServer {
  readonly child: ChildProcess;
  readonly port: number;
  /** One that takes longer than `withinMs` is killed. */
  stop(options?: { withinMs?: number }): Promise<void>;
}

interface PostgresPiece {
  startPostgres(options: {
    directory: string;
    port: number;
    settings?: Record<string, string>;
    binaries?: string;
  }): Promise<StartedServer & { url(database?: string): string }>;
  query(url: string, sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  ensureDatabase(superuserUrl: string, name: string): Promise<void>;
  FAST_AND_TEMPORARY: Record<string, string>;
}

interface RedisPiece {
  startRedis(options: {
    directory: string;
    port: number;
    durable?: boolean;
    settings?: Record<string, string>;
  }): Promise<StartedServer & { url: string }>;
  askRedis(port: number, command: string, limit?: { withinMs?: number }): Promise<string>;
}

interface ProcessesPiece {
  stopProcess(
    child: ChildProcess,
    options?: { signal?: NodeJS.Signals; withinMs?: number },
  ): Promise<boolean>;
  endWithParent(child: ChildProcess): void;
  isHealthy(url: string): Promise<boolean>;
}

interface Pieces {
  postgres: PostgresPiece;
  redis: RedisPiece;
  processes: ProcessesPiece;
  ports: { freePort(): Promise<number> };
  migrate: { migrate(databaseUrl: string): Promise<string> };
}

/**
 * A piece of the local stack. They are plain JavaScript that runs before anything is built, so the compiler does not
 * follow this import; the interfaces above say what the tests use of them.
 */
export async function stackPiece<Name extends keyof Pieces>(name: Name): Promise<Pieces[Name]> {
  const module: unknown = await import(new URL(`../../../tools/stack/${name}.mjs`, import.meta.url).href);
  return module as Pieces[Name];
}

/** A port that nobody else is given until this process ends. */
export async function freePort(): Promise<number> {
  return (await stackPiece('ports')).freePort();
}
