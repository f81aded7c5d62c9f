import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DnsServer } from '@posthorn/testing';
import { Api, emailIn } from '../api.ts';
import { DAY_MS, fromNow } from '../times.ts';
import type { Checkout } from './checkout.ts';
import type { Example, Fence } from './fences.ts';
import { patternOf, squeeze } from './expected-output.ts';
import type { Outcome } from './runners.ts';

const RETRY_FOR_MS = 180_000;

/** Runs the examples of a page in order, like a reader: it fills in ids, keys and ports, which the page cannot know. */
export class Reader {
  /** The output of the page's examples so far. */
  private printed = '';
  /** Assignments of variables in earlier examples of the page. */
  private variables = '';

  constructor(
    readonly checkout: Checkout,
    private readonly names: DnsServer,
    private readonly databaseUrl?: string,
  ) {}

  /** Runs an example. One that only reads is repeated until it prints what the page shows, since that may take a moment. */
  async run(example: Example, env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    const typed = await this.typed(example);
    const environment = { ...this.environment(example), ...env };
    const deadline = Date.now() + RETRY_FOR_MS;
    for (;;) {
      const outcome = await this.checkout.run(typed, environment);
      if (!isAnswered(example, outcome) && Date.now() < deadline) continue;
      this.printed += outcome.stdout;
      return outcome;
    }
  }

  /** The environment of the guide's readers. Unless an example prints the status, curl fails if that is an error. */
  private environment({ code }: Example): Record<string, string> {
    const home = join(this.checkout.folder, code.includes('%{http_code}') ? 'curl-lenient' : 'curl-strict');
    mkdirSync(home, { recursive: true });
    if (home.endsWith('strict')) writeFileSync(join(home, '.curlrc'), 'fail-with-body\n');
    const env = { CURL_HOME: home, DNS_SERVERS: this.names.address };
    if (!this.checkout.isUp) return env;
    const { apiUrl, keys } = this.checkout.stack;
    return { ...env, POSTHORN_URL: apiUrl, POSTHORN_KEY: keys.editor };
  }

  /** An example with its placeholders filled in. @throws when a placeholder is unknown */
  private async typed({ language, code }: Fence): Promise<{ language: string; code: string }> {
    if (language !== 'sh') return { language, code };
    const words = await this.filled(code);
    const script = `${this.variables}${words}`;
    for (const [line] of words.matchAll(/^(?:export )?[A-Z_]+=[^\s(]+(?: +#.*)?$/gm))
      this.variables += `${line}\n`;
    return { language, code: script };
  }

  private async filled(code: string): Promise<string> {
    let words = code;
    for (const [form, meaning] of this.placeholders(code))
      if (form.test(words)) words = words.replaceAll(form, await meaning());
    if (words.replaceAll(/#.*$/gm, '').includes('…'))
      throw new Error(`It is not known what … stands for here:\n${words}`);
    return words;
  }

  private placeholders(code: string): [RegExp, () => string | Promise<string>][] {
    const stack = () => this.checkout.stack;
    return [
      [/http:\/\/(?:127\.0\.0\.1|localhost):3000/g, () => stack().apiUrl],
      [/http:\/\/127\.0\.0\.1:8025/g, () => stack().inbox.webUrl],
      [/phk_…/g, () => stack().keys.editor],
      [/wrk_…/g, () => this.lastPrinted(/wrk_\w{26}/g) ?? stack().workspaceId],
      [
        /trs_\w{26}/g,
        () => (/sendAt|\/cancel/.test(code) ? this.scheduledEmail() : this.lastPrinted(/trs_\w{26}/g)!),
      ],
      [/\b\d{14}-\d{5}\b/g, () => this.lastPrinted(/\b\d{14}-\d{5}\b/g)!],
      [/postgresql:\/\/…/g, () => this.databaseUrl!],
      // Everything is built already, and the command must return.
      [/npm run up$/gm, () => 'npm run up -- --no-build --detach'],
    ];
  }

  private lastPrinted(form: RegExp): string | undefined {
    return this.printed.match(form)?.at(-1);
  }

  private async scheduledEmail(): Promise<string> {
    const { apiUrl, keys } = this.checkout.stack;
    const email = {
      from: 'hello@example.com',
      to: 'ada@example.net',
      subject: 'Later',
      html: '<p>Later</p>',
    };
    const body = { ...email, sendAt: fromNow(DAY_MS) };
    return emailIn(await new Api(apiUrl, keys.apiUser).post('/v1/emails', body)).id;
  }
}

function isAnswered({ code, prints }: Example, { stdout }: Outcome): boolean {
  const isQuestion = prints?.language === 'text' && /^curl(?!.* -(?:d|X) )/s.test(code);
  return !isQuestion || patternOf(prints.code).test(squeeze(stdout));
}
