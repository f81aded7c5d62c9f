import { Controller, Get, Query } from '@nestjs/common';
import { AuditLogStore } from '@posthorn/database';
import { DisconnectSignal } from '@posthorn/platform';
import { Caller, type Principal, RequiresEditor } from '@posthorn/auth';
import { Describes } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { NO_TIME_BETWEEN, timeRange } from '../paging/time-range.ts';
import { LargeReads } from '../system/large-reads.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { AuditLogAnswer } from './audit-log.answers.ts';
import { AuditLogQuery } from './audit-log-query.ts';

@Controller('v1/audit-log')
export class AuditLogController {
  constructor(
    private readonly auditLog: AuditLogStore,
    private readonly reads: LargeReads,
  ) {}

  @Get()
  @RequiresEditor()
  @Describes({
    name: 'listAuditLog',
    tag: 'Audit log',
    summary: 'List who changed what',
    description:
      'Lists the changes to permissions in the workspace, and to what is sent and reported to whom. An entry is written in the transaction of its change, and is never altered. An item must match all filters.',
    query: AuditLogQuery,
    answer: AuditLogAnswer,
    refuses: { 'No such time': NO_TIME_BETWEEN },
  })
  async list(
    @Caller() { workspaceId }: Principal,
    @Query() query: unknown,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<AuditLogAnswer> {
    const validated = validateQuery(AuditLogQuery, query);
    const { action, subjectId } = validated;
    const filter = { action, subjectId, ...timeRange(validated) };
    const page = pageById('aud', validated);
    const list = () => this.auditLog.list(workspaceId, page, filter);
    return { auditLog: await this.reads.run(workspaceId, list, gone) };
  }
}
