import { Logger } from '@nestjs/common';

const INTERVAL_MS = 5_000;
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

/** Looks at one dependency every few seconds, whether somebody asks or not, so that a probe costs a request nothing. */
export class DependencyWatch {
  state: DependencyState | undefined;
  private readonly logger = new Logger('Health');
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(private readonly probe: DependencyProbe) {}

  get name(): string {
    return this.probe.name;
  }

  start(): void {
    void this.lookAgainAndAgain();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private async lookAgainAndAgain(): Promise<void> {
    await this.look();
    if (!this.stopped) this.timer = setTimeout(() => void this.lookAgainAndAgain(), INTERVAL_MS).unref();
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
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    });
    try {
      await Promise.race([this.probe.check(), late]);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      clearTimeout(timer);
    }
  }
}
