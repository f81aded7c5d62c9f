import { Controller, Get, Query, Res } from '@nestjs/common';
import { SYSTEM_WORKSPACE_ID } from '@posthorn/kernel';
import type { Page } from '@posthorn/domain';
import { type AuditEntry, AuditLogStore, WorkspaceStore } from '@posthorn/database';
import type { Response } from 'express';
import type { FormInput } from '../pages/form-input.ts';
import { renderPage } from '../pages/page.ts';
import { runSearch } from '../pages/search.ts';
import { readWorkspaces } from '../pages/workspaces.ts';
import { ACTIONS, AUDIT_FIELDS, auditPage } from './audit-page.ts';

/** The audit log of a workspace, or of the whole installation. */
@Controller('audit')
export class AuditController {
  constructor(
    private readonly auditLog: AuditLogStore,
    private readonly workspaces: WorkspaceStore,
  ) {}

  @Get()
  async find(@Query() query: unknown, @Res({ passthrough: true }) response: Response): Promise<string> {
    const [found, workspaces] = await Promise.all([
      runSearch(AUDIT_FIELDS, query, response, (input) => this.pageOf(input)),
      readWorkspaces(this.workspaces),
    ]);
    const content = auditPage({ ...found, workspaces });
    return renderPage(response, { title: 'Audit log', section: 'Audit log', content });
  }

  private pageOf(input: FormInput): Promise<Page<AuditEntry>> {
    const workspaceId = input.workspaceId() ?? SYSTEM_WORKSPACE_ID;
    return this.auditLog.list(workspaceId, input.pageRequest('aud'), {
      action: input.oneOf('action', ACTIONS),
      subjectId: input.text('subject'),
      ...input.createdRange(),
    });
  }
}
