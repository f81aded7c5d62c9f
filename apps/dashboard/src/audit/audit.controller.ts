import { Controller, Get, Query, Res } from '@nestjs/common';
import { SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import type { Page } from '@posthorn/domain';
import { type AuditEntry, AuditLogStore, WorkspaceStore } from '@posthorn/database';
import type { Response } from 'express';
import type { Given } from '../pages/given.ts';
import { renderPage } from '../pages/page.ts';
import { searched } from '../pages/searched.ts';
import { ACTIONS, AUDIT_FIELDS, auditPage } from './audit-page.ts';

/** Who changed what, in a workspace or in the whole installation. */
@Controller('audit')
export class AuditController {
  constructor(
    private readonly auditLog: AuditLogStore,
    private readonly workspaces: WorkspaceStore,
  ) {}

  @Get()
  async find(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<string> {
    const [found, workspaces] = await Promise.all([
      searched(AUDIT_FIELDS, query, response, (given) => this.pageOf(given)),
      this.workspaces.list(),
    ]);
    const content = auditPage({ ...found, workspaces });
    return renderPage(response, { title: 'Audit log', part: 'Audit log', content });
  }

  private pageOf(given: Given): Promise<Page<AuditEntry>> {
    const workspaceId = given.id('workspace', 'wrk') ?? SYSTEM_WORKSPACE_ID;
    return this.auditLog.list(workspaceId, given.page('aud'), {
      action: given.word('action', ACTIONS),
      subjectId: given.text('subject'),
      ...given.times(),
    });
  }
}
