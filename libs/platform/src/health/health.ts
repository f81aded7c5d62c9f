import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { asError } from '../logging/as-error.ts';
import { type DependencyCheck, DependencyWatch } from './dependency-watch.ts';
import { Heartbeat } from './heartbeat.ts';
import { OpenFilesWatch } from './open-files.ts';
import { PeriodicCheck } from './periodic-check.ts';

/** Whether a part of this process works; if not, the process must be restarted. */
export type LivenessCheck = () => { readonly ok: boolean; readonly detail?: unknown };

/** The checks, by name. */
export interface HealthChecks {
  readonly liveness?: Readonly<Record<string, LivenessCheck>>;
  readonly dependencies?: Readonly<Record<string, DependencyCheck>>;
}

/** The result of the health checks. */
export interface HealthReport {
  readonly status: string;
  readonly checks: Readonly<Record<string, unknown>>;
  /** What is wrong, and what helps; absent: nothing. */
  readonly fault?: string;
}

/** The health of this process. */
export class Health implements OnApplicationBootstrap, OnApplicationShutdown {
  private phase: 'starting' | 'ready' | 'draining' = 'starting';
  private readonly logger = new Logger('Health');
  private readonly heartbeat = new Heartbeat();
  private readonly liveness: readonly (readonly [name: string, check: LivenessCheck])[];
  private readonly watches: readonly DependencyWatch[];
  private readonly checks: readonly PeriodicCheck[];

  constructor({ liveness = {}, dependencies = {} }: HealthChecks = {}) {
    this.liveness = Object.entries({ eventLoop: () => this.heartbeat.check(), ...liveness });
    this.watches = Object.entries(dependencies).map(([name, check]) => new DependencyWatch(name, check));
    this.checks = [new OpenFilesWatch(), ...this.watches].map(
      (watch) => new PeriodicCheck(() => watch.checkOnce()),
    );
  }

  get isDraining(): boolean {
    return this.phase === 'draining';
  }

  /** From now on, `/health/ready` answers 503, and responses close their connections. */
  drain(): void {
    this.phase = 'draining';
  }

  onApplicationBootstrap(): void {
    this.phase = 'ready';
    this.heartbeat.start();
    for (const check of this.checks) check.start();
  }

  onApplicationShutdown(): void {
    this.heartbeat.stop();
    for (const check of this.checks) check.stop();
  }

  live(): HealthReport {
    const checks = this.liveness.map(([name, check]) => [name, this.judge(name, check)] as const);
    const stuck = checks
      .filter(([, { ok }]) => !ok)
      .map(([name, { detail }]) => `${name}: ${String(detail)}`);
    return {
      status: stuck.length === 0 ? 'live' : 'stuck',
      checks: Object.fromEntries(checks),
      ...(stuck.length > 0 && { fault: `This process is stuck (${stuck.join(', ')}); restart it` }),
    };
  }

  ready(): HealthReport {
    const checks = this.watches.map(({ name, state }) => [name, state ?? { ok: false, checkedAt: null }]);
    return {
      status: this.phase,
      checks: Object.fromEntries(checks) as HealthReport['checks'],
      ...(this.phase !== 'ready' && {
        fault: `This process is ${this.phase}; send requests to another one`,
      }),
    };
  }

  private judge(name: string, check: LivenessCheck): ReturnType<LivenessCheck> {
    try {
      return check();
    } catch (error) {
      this.logger.error(`the liveness check ${name} itself failed`, asError(error));
      return { ok: false, detail: 'the check itself failed' };
    }
  }
}
