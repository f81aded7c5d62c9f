import { Controller, Get, Query, Res } from '@nestjs/common';
import { DatabaseClock, parseId, RELEASE } from '@posthorn/kernel';
import { type LaneId, workspaceOfLane } from '@posthorn/domain';
import {
  OutboxStore,
  OverviewStore,
  RateStore,
  WebhookSearchStore,
  WorkspaceStore,
} from '@posthorn/database';
import { ReadOnlyQueues } from '@posthorn/queues';
import type { Response } from 'express';
import { html, type Html } from '../pages/html.ts';
import { renderPage } from '../pages/page.ts';
import { count } from '../pages/components.ts';
import { FormInput } from '../pages/form-input.ts';
import { workspaceNames } from '../pages/workspaces.ts';
import { attention } from './attention.ts';
import { backlogTable, type LaneNames, lanesTable, pausedTable } from './backlog-tables.ts';
import { rateCharts, relaysTable } from './rate-charts.ts';

const REFRESH_SECONDS = 15;
const RELOADING = html`<p class="quiet">
  This page reloads every ${REFRESH_SECONDS} s. <a href="/?reload=no">Stop reloading</a>
</p>`;
const STILL = html`<p class="quiet">
  This page does not reload. <a href="/">Reload every ${REFRESH_SECONDS} s</a>
</p>`;

/** The start page: throughput, backlog, what is paused, and the state of relays and receivers. */
@Controller()
export class OverviewController {
  constructor(
    private readonly overview: OverviewStore,
    private readonly outbox: OutboxStore,
    private readonly rates: RateStore,
    private readonly workspaces: WorkspaceStore,
    private readonly webhooks: WebhookSearchStore,
    private readonly clock: DatabaseClock,
    private readonly queues: ReadOnlyQueues,
  ) {}

  @Get()
  async show(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<string> {
    const isStill = new FormInput(query).text('reload') === 'no';
    const [minutes, backlog, retries, state, paused, rates, relays, lanes, isRedisUp] = await Promise.all([
      this.overview.emailsByMinute(),
      this.outbox.measureBacklog(),
      this.overview.waitingRetries(),
      this.overview.stateOfThings(),
      this.overview.pausedLanes(),
      this.rates.lastHour(),
      this.rates.relays(),
      this.overview.busiestLanes(),
      this.queues.ping().then(
        () => true,
        () => false,
      ),
    ]);
    const names = await this.namesOf([...lanes, ...paused.items]);
    const content = html`<h1>Overview</h1>
      ${attention({ isRedisUp, relays, backlog, paused: paused.items })} ${isStill ? STILL : RELOADING}
      ${rateCharts(minutes, rates, this.clock.now())}
      <h2>Backlog</h2>
      ${backlogTable(backlog, retries)}
      <h2>Relays</h2>
      ${relaysTable(relays, rates, this.clock.now())}
      ${
        lanes.length === 0
          ? ''
          : html`<h2>Lanes with the most due</h2>
              ${lanesTable(lanes, names)}`
      }
      <h2>What is paused</h2>
      ${pausedTable(paused, names)}
      <h2>Receivers and versions</h2>
      <div class="cards">
        ${card('Slow receivers', count(state.slowLanes))}
        ${card(html`<a href="/webhooks?receiver=failing">Failing webhooks</a>`, count(state.failingWebhooks))}
        ${card('Posthorn', RELEASE)} ${card('Postgres', state.postgresVersion)}
        ${card('Node', process.versions.node)}
      </div>`;

    return renderPage(response, {
      title: 'Overview',
      section: 'Overview',
      content,
      refreshSeconds: isStill ? undefined : REFRESH_SECONDS,
    });
  }

  private async namesOf(lanes: readonly { readonly laneId: LaneId }[]): Promise<LaneNames> {
    const ids = lanes.map(({ laneId }) => laneId);
    const webhooks = await this.webhooks.findMany(ids.flatMap((id) => parseId('wh', id) ?? []));
    const ofWebhooks = webhooks.map(({ workspaceId }) => workspaceId);
    const owners = new Set([...ids.flatMap((id) => workspaceOfLane(id) ?? []), ...ofWebhooks]);
    return {
      nameOf: workspaceNames(await this.workspaces.findMany([...owners])),
      webhooks: new Map(webhooks.map((webhook) => [webhook.id, webhook])),
    };
  }
}

function card(title: Html | string, value: string): Html {
  return html`<div class="card"><b>${value}</b><span>${title}</span></div>`;
}
