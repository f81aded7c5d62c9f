import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { parseId, type WorkspaceId } from '@posthorn/kernel';
import { emailLanes, eventLane, webhookLane } from '@posthorn/domain';
import {
  IdentityStore,
  OverviewStore,
  PausedLaneStore,
  WebhookSearchStore,
  WorkspaceDeletionStore,
  WorkspaceStore,
} from '@posthorn/database';
import { ReadUsage } from '@posthorn/use-cases';
import type { Response } from 'express';
import { FormInput } from '../pages/form-input.ts';
import { renderPage } from '../pages/page.ts';
import { runSearch } from '../pages/search.ts';
import { findCustomer } from './find-customer.ts';
import { workspacePage } from './workspace-page.ts';
import { WORKSPACE_FIELDS, workspacesPage } from './workspaces-page.ts';

const OLDEST = { limit: 50, sort: 'createdAt.asc' } as const;
const NEWEST = { limit: 50, sort: 'createdAt.desc' } as const;

/** The workspaces of customers. */
@Controller('workspaces')
export class WorkspacesController {
  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly deletion: WorkspaceDeletionStore,
    private readonly usage: ReadUsage,
    private readonly pausedLanes: PausedLaneStore,
    private readonly overview: OverviewStore,
    private readonly identities: IdentityStore,
    private readonly webhooks: WebhookSearchStore,
  ) {}

  @Get()
  async find(
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    const id = parseId('wrk', new FormInput(query).redisplay('name') ?? '');
    if (id !== undefined) {
      response.redirect(303, `/workspaces/${id}`);
      return undefined;
    }
    const result = await runSearch(WORKSPACE_FIELDS, query, response, (input) =>
      this.workspaces.page(input.pageRequest('wrk'), input.text('name')),
    );
    return renderPage(response, {
      title: 'Workspaces',
      section: 'Workspaces',
      content: workspacesPage(result),
    });
  }

  @Get(':workspace_id')
  async show(
    @Param('workspace_id') text: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const workspace = await findCustomer(this.workspaces, text);
    const { id } = workspace;
    const [usage, begun, pause, lanes, identities, webhooks] = await Promise.all([
      this.usage.read(id),
      this.deletion.begun(),
      this.pausedLanes.pauseOf(id),
      this.overview.backlogOf(lanesOf(id)),
      this.identities.pageWithRecords(id, OLDEST),
      this.webhooks.list(NEWEST, { workspaceId: id }),
    ]);
    const dueToWebhooks = await this.overview.backlogOf(
      webhooks.items.map((webhook) => ({ queue: 'webhook', laneId: webhookLane(webhook.id) })),
    );
    const deletionBegunAt = begun.get(id);
    const content = workspacePage({
      workspace,
      deletionBegunAt,
      usage,
      pause,
      lanes,
      identities,
      webhooks,
      dueToWebhooks,
    });
    return renderPage(response, { title: workspace.name, section: 'Workspaces', content });
  }
}

function lanesOf(id: WorkspaceId) {
  const emails = emailLanes(id).map((laneId) => ({ queue: 'email', laneId }) as const);
  return [...emails, { queue: 'event', laneId: eventLane(id) } as const];
}
