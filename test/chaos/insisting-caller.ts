import { setTimeout as sleep } from 'node:timers/promises';
import { Api, type Answer } from '../e2e/api.ts';

const BETWEEN_CALLS_MS = 30;

/** A caller that repeats each call until it is accepted or refused, at one gateway after the other. */
export class InsistingCaller {
  /** Answers that no caller should ever get. */
  readonly wrong: string[] = [];

  constructor(
    private readonly gateways: () => readonly string[],
    private readonly key: string,
  ) {}

  /** @param first the number of the gateway that is called first */
  async insist(ask: (api: Api) => Promise<Answer>, first = 0): Promise<Answer> {
    for (let n = first; ; n += 1) {
      const answer = await this.once(ask, n);
      if (answer !== undefined) return answer;
      await sleep(BETWEEN_CALLS_MS);
    }
  }

  /** Calls once. @returns undefined if it is unknown whether the call was accepted */
  async once(ask: (api: Api) => Promise<Answer>, gateway: number): Promise<Answer | undefined> {
    const urls = this.gateways();
    const answer = await ask(new Api(urls[gateway % urls.length]!, this.key)).catch(() => undefined);
    if (answer === undefined || answer.status < 500) return answer;
    if (answer.status !== 503 || !answer.headers.has('retry-after')) this.wrong.push(answer.text);
    return undefined;
  }
}
