import { OperatorAccountStore } from '@posthorn/database';
import type { OperatorRole } from '@posthorn/domain';
import type { AppUnderTest } from '@posthorn/testing';
import { createOperator } from '@posthorn/use-cases/operate';
import { type Stack, TESTS } from './stack.ts';

/** A script that would run in a page that does not escape it. */
export const HOSTILE = '"><script>alert(1)</script>';

/** The headers of a form that is submitted from a page of another site. */
export const FROM_ELSEWHERE = { 'Origin': 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };

/** A page of the dashboard. */
export interface ShownPage {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An HTTP client with a session of the dashboard. */
export class DashboardVisitor {
  private constructor(
    private readonly dashboard: AppUnderTest,
    readonly cookie: string,
  ) {}

  /** Creates an account and signs in. */
  static async signIn(
    stack: Stack,
    dashboard: AppUnderTest,
    name: string,
    role: OperatorRole,
  ): Promise<DashboardVisitor> {
    const account = await createOperator(new OperatorAccountStore(stack.database), TESTS, { name, role });
    const answer = await fetch(`${dashboard.url}/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ name, password: account.password }),
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    });
    const [cookie] = answer.headers.getSetCookie();
    if (cookie === undefined) throw new Error(`${answer.status}: ${await answer.text()}`);
    return new DashboardVisitor(dashboard, cookie.split(';')[0]!);
  }

  /** The same session in another dashboard. */
  at(dashboard: AppUnderTest): DashboardVisitor {
    return new DashboardVisitor(dashboard, this.cookie);
  }

  get(path: string): Promise<ShownPage> {
    return this.ask(path, {});
  }

  /** Submits a form, from a page of the dashboard unless `headers` say otherwise. */
  post(
    path: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = { 'Sec-Fetch-Site': 'same-origin' },
  ): Promise<ShownPage> {
    return this.ask(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  }

  private async ask(path: string, init: RequestInit): Promise<ShownPage> {
    const answer = await fetch(this.dashboard.url + path, {
      redirect: 'manual',
      ...init,
      headers: { Accept: 'text/html', Cookie: this.cookie, ...init.headers },
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
}

/** Starts a dashboard, with an operator, ada, and a viewer, vera, signed in. */
export async function openDashboard(
  stack: Stack,
): Promise<{ dashboard: AppUnderTest; ada: DashboardVisitor; vera: DashboardVisitor }> {
  const dashboard = await stack.startApp('dashboard');
  const ada = await DashboardVisitor.signIn(stack, dashboard, 'ada', 'operator');
  const vera = await DashboardVisitor.signIn(stack, dashboard, 'vera', 'viewer');
  return { dashboard, ada, vera };
}

/** The URL of a list's next page. */
export function nextPageIn(text: string): string {
  return /href="([^"]+)" rel="next"/.exec(text)![1]!.replaceAll('&amp;', '&');
}
