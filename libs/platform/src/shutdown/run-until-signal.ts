import type { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { setImmediate as afterPolling } from 'node:timers/promises';
import type { INestApplication } from '@nestjs/common';
import { sleep } from '@posthorn/kernel';
import type { Logger } from 'pino';
import { Health } from '../health/health.ts';
import { closeUnused } from '../http/connections/unused-connections.ts';
import { asError } from '../logging/as-error.ts';
import { exitBeforeWork, SIGNALS } from './signals.ts';

export interface ShutdownOptions {
  readonly logger: Logger;
  /** Steps to finish before the process exits, in order: stop claiming, record outcomes, close pools. Promises are awaited. */
  readonly drain?: readonly (() => unknown)[];
  /** After how long the process exits in any case; must be less than the grace period of the platform before SIGKILL. */
  readonly deadlineMs?: number;
  /** How long requests are still accepted while `/health/ready` answers 503 already. */
  readonly lingerMs?: number;
  /** How long requests in flight may take before their connections are destroyed. */
  readonly requestGraceMs?: number;
  /** The process whose signals are handled; a fake in tests. */
  readonly process?: ProcessLike;
}

/** The part of Node's `process` that is used. */
interface ProcessLike extends Pick<EventEmitter, 'on' | 'off'> {
  exit(code: number): unknown;
}

const IDLE_SWEEP_MS = 50;
/** A turn of the event loop in which it had next to nothing to do, and how long one is waited for. */
const QUIET_TURN_MS = 1;
const MAX_ACCEPTING_MS = 1_000;
const FATAL_EVENTS = ['uncaughtException', 'unhandledRejection'] as const;

/**
 * Waits for SIGTERM or SIGINT and then shuts the process down gracefully: `/health/ready` answers 503, nothing new is accepted, requests
 * in flight and then all drains are finished, then the app's own hooks, exit 0. A SIGINT meanwhile (from a person at a terminal who does
 * not want to wait), the deadline, or an uncaught error: exit 1. A SIGTERM meanwhile changes nothing.
 *
 * @returns when the process has been told to exit (observable only in tests)
 */
export function runUntilSignal(app: INestApplication, options: ShutdownOptions): Promise<void> {
  return new Promise((resolve) => new Shutdown(app, options, resolve).listen());
}

class Shutdown {
  private readonly process: ProcessLike;
  private readonly logger: Logger;
  private deadline: NodeJS.Timeout | undefined;
  private exited = false;

  constructor(
    private readonly app: INestApplication,
    private readonly options: ShutdownOptions,
    private readonly resolve: () => void,
  ) {
    this.process = options.process ?? process;
    this.logger = options.logger;
  }

  listen(): void {
    // In this order: without any listener, Node forgets a signal that has arrived and that it has not delivered yet.
    for (const signal of SIGNALS) this.process.on(signal, this.onSignal).off(signal, exitBeforeWork);
    for (const event of FATAL_EVENTS) this.process.on(event, this.onFatal);
  }

  private readonly onSignal = (signal: string): void => {
    if (this.deadline !== undefined) {
      // Programs that signal a process and its group, as `timeout` does, send two; the second means nothing.
      if (signal === 'SIGTERM') return;
      this.logger.error('received SIGINT while shutting down: exiting without finishing');
      this.exit(1);
      return;
    }
    const { deadlineMs = 25_000 } = this.options;
    this.logger.info({ signal, deadlineMs }, 'shutting down');
    this.deadline = setTimeout(() => {
      this.logger.error({ deadlineMs }, 'the deadline has passed: exiting without finishing');
      this.exit(1);
    }, deadlineMs);
    this.finish().then(
      (clean) => this.exit(clean ? 0 : 1),
      (error: unknown) => this.onFatal(error),
    );
  };

  private readonly onFatal = (error: unknown): void => {
    this.logger.fatal({ err: asError(error) }, 'uncaught error');
    this.exit(1);
  };

  /** @returns whether everything could be finished */
  private async finish(): Promise<boolean> {
    this.app.get(Health, { strict: false }).drain();
    await sleep(this.options.lingerMs ?? 0);
    await closeServer(this.app.getHttpServer() as Server, this.options.requestGraceMs ?? 10_000);
    let clean = true;
    for (const drain of this.options.drain ?? []) {
      try {
        await drain();
      } catch (err) {
        clean = false;
        this.logger.error({ err }, 'a step of the shutdown failed');
      }
    }
    await this.app.close();
    return clean;
  }

  private exit(code: number): void {
    if (this.exited) return;
    this.exited = true;
    clearTimeout(this.deadline);
    this.logger.info({ code }, 'exiting');
    this.logger.flush();
    this.process.exit(code);
    for (const signal of SIGNALS) this.process.off(signal, this.onSignal);
    for (const event of FATAL_EVENTS) this.process.off(event, this.onFatal);
    this.resolve();
  }
}

/** Stops accepting, lets the requests in flight finish, and destroys connections that take longer than `graceMs`. */
async function closeServer(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  await untilAllAreAccepted(server);
  // `close` would do this first, which takes milliseconds, and others would connect meanwhile.
  server.closeIdleConnections();
  await untilAllAreAccepted(server);
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    // `close` closes only the connections that are idle at that moment; the others keep alive after their answer.
    const sweep = setInterval(() => setImmediate(closeWaiting, server), IDLE_SWEEP_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
  });
}

/** Closes the connections that wait for a request. Called after polling, so that no request has arrived unread. */
function closeWaiting(server: Server): void {
  server.closeIdleConnections();
  closeUnused(server);
}

/**
 * Waits until the event loop has just accepted all connections. Closing a server resets those that it has not accepted yet, even if their
 * request has arrived: a proxy, which may not repeat a POST, would answer 502. Since Node accepts one connection in each turn of the event
 * loop, only a turn without any shows that none is left.
 */
async function untilAllAreAccepted(server: Server): Promise<void> {
  let accepted = 0;
  const note = (): void => void (accepted += 1);
  server.on('connection', note);
  const deadline = performance.now() + MAX_ACCEPTING_MS;
  while (performance.now() < deadline) {
    const [before, startedAt] = [accepted, performance.now()];
    await afterPolling();
    // Otherwise others may have arrived while the requests of the first were read.
    if (accepted === before && performance.now() - startedAt < QUIET_TURN_MS) break;
  }
  server.off('connection', note);
}
