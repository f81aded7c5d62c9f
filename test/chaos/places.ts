import { type AppName, type AppUnderTest, type Exit, freePort } from '@posthorn/testing';
import type { Stack } from '../e2e/stack.ts';

/** An app that is restarted at the same address. */
export class Place {
  private constructor(
    readonly name: AppName,
    private readonly begin: () => Promise<AppUnderTest>,
    public app: AppUnderTest,
  ) {}

  static async take(stack: Stack, name: AppName, env: Record<string, string> = {}): Promise<Place> {
    const own = { ...env, HTTP_PORT: String(await freePort()) };
    const begin = (): Promise<AppUnderTest> => stack.startApp(name, own);
    return new Place(name, begin, await begin());
  }

  /** @throws when it had ended already, without having been told to */
  async kill(): Promise<void> {
    this.expectRunning();
    this.app.program.kill('SIGKILL');
    await this.app.program.exit;
  }

  /** Stops it as an orchestrator does. @throws when it had ended already */
  async stop(): Promise<Exit> {
    this.expectRunning();
    return this.app.program.stop();
  }

  async restart(): Promise<void> {
    this.app = await this.begin();
  }

  /** @throws when it has ended */
  expectRunning(): void {
    const { hasEnded, output } = this.app.program;
    if (hasEnded) throw new Error(`${this.name} has ended by itself:\n${output.slice(-2_000)}`);
  }
}

/** The addresses of the gateways. */
export function gatewayUrls(places: readonly Place[]): string[] {
  return places.filter(({ name }) => name === 'gateway').map(({ app }) => app.url);
}
