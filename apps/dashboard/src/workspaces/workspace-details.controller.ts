import { Controller, Get, Param, Query, Res } from '@nestjs/common';
import { DatabaseClock } from '@posthorn/kernel';
import {
  ApiKeyStore,
  EmailCountsStore,
  IdentityStore,
  MemberStore,
  WorkspaceStore,
} from '@posthorn/database';
import type { Response } from 'express';
import { FormInput } from '../pages/form-input.ts';
import type { Html } from '../pages/html.ts';
import { renderPage } from '../pages/page.ts';
import { accessPage } from './access-page.ts';
import { daysPage, daysUntil } from './days-page.ts';
import { findCustomer } from './find-customer.ts';
import { sendersPage } from './senders-page.ts';

/** What is too long for the page of a workspace, or takes long to read. */
@Controller('workspaces/:workspace_id')
export class WorkspaceDetailsController {
  constructor(
    private readonly workspaces: WorkspaceStore,
    private readonly identities: IdentityStore,
    private readonly keys: ApiKeyStore,
    private readonly members: MemberStore,
    private readonly counts: EmailCountsStore,
    private readonly clock: DatabaseClock,
  ) {}

  @Get('senders')
  async senders(
    @Param('workspace_id') text: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const workspace = await findCustomer(this.workspaces, text);
    const page = new FormInput(query).pageRequest('idn');
    const found = await this.identities.pageWithRecords(workspace.id, page);
    return render(response, `Senders of ${workspace.name}`, sendersPage(workspace, found));
  }

  @Get('access')
  async access(
    @Param('workspace_id') text: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const workspace = await findCustomer(this.workspaces, text);
    const page = new FormInput(query).pageRequest('mbr');
    const [keys, members] = await Promise.all([
      this.keys.list(workspace.id),
      this.members.list(workspace.id, page),
    ]);
    return render(response, `Keys and members of ${workspace.name}`, accessPage(workspace, keys, members));
  }

  @Get('days')
  async days(
    @Param('workspace_id') text: string,
    @Query() query: unknown,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const workspace = await findCustomer(this.workspaces, text);
    const days = daysUntil(new FormInput(query).time('until') ?? this.clock.now());
    const counts = await this.counts.count({ workspaceId: workspace.id, groupBy: undefined, ...days });
    return render(response, `Emails of ${workspace.name} by day`, daysPage(workspace, days, counts));
  }
}

function render(response: Response, title: string, content: Html): string {
  return renderPage(response, { title, section: 'Workspaces', content });
}
