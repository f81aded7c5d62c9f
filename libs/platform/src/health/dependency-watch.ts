import { Logger } from '@nestjs/common';
import { within } from '@posthorn/kernel';
import { asError } from '../logging/as-error.ts';

const TIMEOUT_MS = 1_000;

/** Something shared that a process needs, such as the database; its absence is shown, but never takes the process out. */
export interface DependencyProbe {
  readonly name: string;
  /** Resolves when the dependency answers. */
  check(): Promise<unknown>;
}

/** What the last look at a dependency found. Why it failed is only logged: that may name hosts. */
export interface DependencyState {
  readonly ok: boolean;
  readonly checkedAt: string;
  readonly durationMs: number;
}

/** Looks at one dependency and keeps what it found, so that a probe costs a request nothing. */
export class DependencyWatch {
  state: DependencyState | undefined;
  private readonly logger = new Logger('Health');

  constructor(private readonly probe: DependencyProbe) {}

  get name(): string {
    return this.probe.name;
  }

  /** Looks once; never rejects. */
  async look(): Promise<void> {
    const startedAt = performance.now();
    const fault = await this.faultOfProbe();
    const state = {
      ok: fault === undefined,
      checkedAt: new Date().toISOString(),
      durationMs: Math.round(performance.now() - startedAt),
    };
    if (fault !== undefined && this.state?.ok !== false)
      this.logger.warn(`${this.name} does not answer`, fault);
    if (fault === undefined && this.state?.ok === false) this.logger.log(`${this.name} answers again`);
    this.state = state;
  }

  private async faultOfProbe(): Promise<Error | undefined> {
    try {
      const answered = this.probe.check().then(() => true);
      return (await within(answered, TIMEOUT_MS))
        ? undefined
        : new Error(`no answer within ${TIMEOUT_MS} ms`);
    } catch (error) {
      return asError(error);
    }
  }
}
