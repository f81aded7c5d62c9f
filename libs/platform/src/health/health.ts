import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { DependencyWatch, type DependencyProbe } from './dependency-watch.ts';
import { Heartbeat } from './heartbeat.ts';
import { OpenFilesWatch } from './open-files.ts';
import { RegularLook } from './regular-look.ts';

/** Something of this process' own that must go on; when it does not, only a restart helps. */
export interface LivenessProbe {
  readonly name: string;
  check(): { readonly ok: boolean; readonly detail?: unknown };
}

export interface HealthChecks {
  readonly liveness?: readonly LivenessProbe[];
  readonly dependencies?: readonly DependencyProbe[];
}

/** What a health check answers. */
export interface HealthReport {
  readonly ok: boolean;
  readonly status: string;
  readonly checks: Readonly<Record<string, unknown>>;
}

/** How a process is. */
export class Health implements OnApplicationBootstrap, OnApplicationShutdown {
  private phase: 'starting' | 'ready' | 'draining' = 'starting';
  private readonly heartbeat = new Heartbeat();
  private readonly probes: readonly LivenessProbe[];
  private readonly watches: readonly DependencyWatch[];
  private readonly looks: readonly RegularLook[];

  constructor({ liveness = [], dependencies = [] }: HealthChecks = {}) {
    this.probes = [{ name: 'eventLoop', check: () => this.heartbeat.check() }, ...liveness];
    this.watches = dependencies.map((probe) => new DependencyWatch(probe));
    this.looks = [new OpenFilesWatch(), ...this.watches].map((watch) => new RegularLook(() => watch.look()));
  }

  get isDraining(): boolean {
    return this.phase === 'draining';
  }

  /** From now on `/health/ready` says 503, and answers close their connections. */
  drain(): void {
    this.phase = 'draining';
  }

  onApplicationBootstrap(): void {
    this.phase = 'ready';
    this.heartbeat.start();
    for (const look of this.looks) look.start();
  }

  onApplicationShutdown(): void {
    this.heartbeat.stop();
    for (const look of this.looks) look.stop();
  }

  live(): HealthReport {
    const checks = this.probes.map((probe) => [probe.name, judge(probe)] as const);
    const ok = checks.every(([, result]) => result.ok);
    return { ok, status: ok ? 'live' : 'stuck', checks: Object.fromEntries(checks) };
  }

  ready(): HealthReport {
    const checks = this.watches.map(({ name, state }) => [name, state ?? { ok: false, checkedAt: null }]);
    return {
      ok: this.phase === 'ready',
      status: this.phase,
      checks: Object.fromEntries(checks) as HealthReport['checks'],
    };
  }
}

function judge(probe: LivenessProbe): ReturnType<LivenessProbe['check']> {
  try {
    return probe.check();
  } catch {
    return { ok: false, detail: 'the check itself failed' };
  }
}
