import type { ChildProcess } from 'node:child_process';

/** A Postgres or Redis server that `tools/stack` has started. */
export interface StartedServer {
  readonly child: ChildProcess;
  readonly port: number;
  /** Stops it; a server that takes longer than `withinMs` is killed. */
  stop(options?: { withinMs?: number }): Promise<void>;
}

interface PostgresModule {
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

interface RedisModule {
  startRedis(options: {
    directory: string;
    port: number;
    durable?: boolean;
    settings?: Record<string, string>;
  }): Promise<StartedServer & { url: string }>;
  askRedis(port: number, command: string, limit?: { withinMs?: number }): Promise<string>;
}

interface ProcessesModule {
  stopProcess(
    child: ChildProcess,
    options?: { signal?: NodeJS.Signals; withinMs?: number },
  ): Promise<boolean>;
  endWithParent(child: ChildProcess): void;
  isHealthy(url: string): Promise<boolean>;
}

interface StackModules {
  postgres: PostgresModule;
  redis: RedisModule;
  processes: ProcessesModule;
  ports: { freePort(): Promise<number> };
  migrate: { migrate(databaseUrl: string): Promise<string> };
}

/**
 * A module of `tools/stack`. These are plain JavaScript that runs before anything is built, so the compiler does not
 * follow this import; the interfaces above declare what the tests use of them.
 */
export async function stackModule<Name extends keyof StackModules>(name: Name): Promise<StackModules[Name]> {
  const module: unknown = await import(new URL(`../../../tools/stack/${name}.mjs`, import.meta.url).href);
  return module as StackModules[Name];
}

/** A free port, which no other caller gets until this process ends. */
export async function freePort(): Promise<number> {
  return (await stackModule('ports')).freePort();
}
