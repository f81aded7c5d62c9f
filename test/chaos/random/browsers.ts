import { setTimeout as sleep } from 'node:timers/promises';
import { DashboardVisitor, type ShownPage } from '../../e2e/dashboard-visitor.ts';
import type { Place } from '../places.ts';
import type { Cluster } from './cluster.ts';
import type { Random } from './random.ts';

const BETWEEN_TRIES_MS = 100;
const UNAVAILABLE = 503;

/** An operator with a browser at each dashboard. */
export class Browsers {
  /** Pages that no operator should ever see. */
  readonly wrong: string[] = [];

  private constructor(
    private readonly dashboards: readonly Place[],
    private readonly visitor: DashboardVisitor,
    private readonly random: Random,
  ) {}

  static async open({ stack, places }: Cluster, random: Random): Promise<Browsers> {
    const dashboards = places.filter(({ name }) => name === 'dashboard');
    const visitor = await DashboardVisitor.signIn(stack, dashboards[0]!.app, 'ada', 'operator');
    return new Browsers(dashboards, visitor, random);
  }

  /**
   * Submits a form until it is answered, sometimes twice at the same time: a double click, or another tab.
   *
   * @param statuses what it may be answered
   * @returns the answer to each
   */
  async submit(
    path: string,
    fields: Record<string, string>,
    statuses: readonly number[],
  ): Promise<ShownPage[]> {
    const first = this.random.between(0, 1);
    const tabs = this.random.chance(0.5) ? [first, first + 1] : [first];
    const pages = await Promise.all(tabs.map((n) => this.insist(path, fields, n)));
    for (const { status, text } of pages)
      if (!statuses.includes(status)) this.wrong.push(`${path}: ${status}: ${text}`);
    return pages;
  }

  private async insist(path: string, fields: Record<string, string>, first: number): Promise<ShownPage> {
    for (let n = first; ; n += 1) {
      const { app } = this.dashboards[n % this.dashboards.length]!;
      const page = await this.visitor
        .at(app)
        .post(path, fields)
        .catch(() => undefined);
      if (page !== undefined && page.status !== UNAVAILABLE) return page;
      await sleep(BETWEEN_TRIES_MS);
    }
  }
}
