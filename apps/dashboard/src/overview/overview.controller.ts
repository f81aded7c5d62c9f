import { Controller, Get, Query, Res } from '@nestjs/common';
import { DatabaseClock, RELEASE } from '@posthorn/kernel';
import { workspaceOfLane } from '@posthorn/domain';
import { OutboxStore, OverviewStore, RateStore, WorkspaceStore } from '@posthorn/database';
import { ReadOnlyQueues } from '@posthorn/queues';
import type { Response } from 'express';
import { html, type Html } from '../pages/html.ts';
import { renderPage } from '../pages/page.ts';
import { count } from '../pages/components.ts';
import { FormInput } from '../pages/form-input.ts';
import { workspaceNames } from '../pages/workspaces.ts';
import { backlogTable, pausedTable, lanesTable } from './backlog-tables.ts';
import { rateCharts, relaysTable } from './rate-charts.ts';

const REFRESH_SECONDS = 15;
const RELOADING = html`<p class="quiet">
  This page reloads every ${REFRESH_SECONDS} s. <a href="/?reload=no">Stop reloading</a>
</p>`;
const STILL = html`<p class="quiet">
  This page does not reload. <a href="/">Reload every ${REFRESH_SECONDS} s</a>
</p>`;

/** Nothing else of the page shows it: what is read from the database looks as if the workers were slow. */
const REDIS_DOWN = html`<p class="bad" role="alert">
  Redis does not answer, so workers are not told of new work. What is accepted is in the database, and leaves
  within seconds of its return.
</p>`;

/** The start page: throughput, backlog, what is paused, and the state of relays and receivers. */
@Controller()
export class OverviewController {
  constructor(
    private readonly overview: OverviewStore,
    private readonly outbox: OutboxStore,
    private readonly rates: RateStore,
    private readonly workspaces: WorkspaceStore,
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
    const owners = [...lanes, ...paused.items].flatMap(({ laneId }) => workspaceOfLane(laneId) ?? []);
    const nameOf = workspaceNames(await this.workspaces.findMany(owners));
    const content = html`<h1>Overview</h1>
      ${isStill ? STILL : RELOADING} ${isRedisUp ? '' : REDIS_DOWN}
      ${rateCharts(minutes, rates, this.clock.now())}
      <h2>Backlog</h2>
      ${backlogTable(backlog, retries)}
      ${
        lanes.length === 0
          ? ''
          : html`<h2>Lanes with the most due</h2>
              ${lanesTable(lanes, nameOf)}`
      }
      <h2>What is paused</h2>
      ${pausedTable(paused, nameOf)}
      <h2>Relays</h2>
      ${relaysTable(relays, rates)}
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
}

function card(title: Html | string, value: string): Html {
  return html`<div class="card"><b>${value}</b><span>${title}</span></div>`;
}
