import { Controller, Get, Query } from '@nestjs/common';
import { AuditLogStore } from '@posthorn/database';
import { Caller, type Principal, RequiresEditor } from '@posthorn/auth';
import { orUnavailable } from '@posthorn/use-cases';
import { Describes } from '../openapi/describes.ts';
import { pageById } from '../paging/page-request.ts';
import { judgeQuery } from '../validation/judge-query.ts';
import { AuditLogAnswer } from './audit-log.answers.ts';
import { AuditLogQuery } from './audit-log.query.ts';

@Controller('v1/audit-log')
export class AuditLogController {
  constructor(private readonly auditLog: AuditLogStore) {}

  @Get()
  @RequiresEditor()
  @Describes({
    name: 'listAuditLog',
    tag: 'Audit log',
    summary: 'List who changed what',
    description:
      'Each change of who may do what in the workspace, and of what is sent and told to whom. An entry is written together with its change, and never changed.',
    query: AuditLogQuery,
    answer: AuditLogAnswer,
  })
  async list(@Caller() { workspaceId }: Principal, @Query() query: unknown): Promise<AuditLogAnswer> {
    const { action, subjectId, ...page } = judgeQuery(AuditLogQuery, query);
    const wanted = pageById('aud', page);
    return { auditLog: await orUnavailable(this.auditLog.list(workspaceId, wanted, { action, subjectId })) };
  }
}
