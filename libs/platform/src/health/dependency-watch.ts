import { Logger } from '@nestjs/common';
import { within } from '@posthorn/kernel';
import { asError } from '../logging/as-error.ts';

const TIMEOUT_MS = 1_000;

/** Resolves when a shared dependency such as the database answers; an outage is shown, but does not make the process unready. */
export type DependencyCheck = () => Promise<unknown>;

/** The result of the last check of a dependency. The reason of a failure is only logged, because it may name hosts. */
export interface DependencyState {
  readonly ok: boolean;
  readonly checkedAt: string;
  readonly durationMs: number;
}

/** Checks a dependency and keeps the result, so that probes are answered without waiting. */
export class DependencyWatch {
  state: DependencyState | undefined;
  private readonly logger = new Logger('Health');

  constructor(
    readonly name: string,
    private readonly check: DependencyCheck,
  ) {}

  /** Checks once; never rejects. */
  async checkOnce(): Promise<void> {
    const startedAt = performance.now();
    const fault = await this.faultOfCheck();
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

  private async faultOfCheck(): Promise<Error | undefined> {
    try {
      const answered = this.check().then(() => true);
      return (await within(answered, TIMEOUT_MS))
        ? undefined
        : new Error(`no answer within ${TIMEOUT_MS} ms`);
    } catch (error) {
      return asError(error);
    }
  }
}
