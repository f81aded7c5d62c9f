import { AUDITED_ACTIONS, type AuditedAction } from '@posthorn/domain';
import { PageQuery } from '../paging/page-query.ts';
import { anyId } from '../validation/query-rules.ts';
import { Optional } from '../validation/rule.ts';
import { oneOfWords, timeOrDay } from '../validation/text-rules.ts';

/** The page and filter of the audit log. */
export class AuditLogQuery extends PageQuery {
  @Optional(oneOfWords('AuditedAction', AUDITED_ACTIONS), 'Only entries with this action.', {
    example: 'api_key.created',
  })
  action?: AuditedAction;

  @Optional(anyId, 'Only changes of the resource with this id.')
  subjectId?: string;

  @Optional(timeOrDay, 'Only changes made at this time or later; a day stands for its beginning (UTC).', {
    example: '2026-01-31',
  })
  createdAfter?: string;

  @Optional(timeOrDay, 'Only changes made before this time; a day stands for its beginning (UTC).')
  createdBefore?: string;
}
