import { AUDITED_ACTIONS, type AuditedAction } from '@posthorn/domain';
import { PageQuery } from '../paging/page-query.ts';
import { anyId } from '../validation/query-rules.ts';
import { Optional } from '../validation/rule.ts';
import { oneOfWords } from '../validation/text-rules.ts';

/** Which page of the audit log is wanted, and of which changes. */
export class AuditLogQuery extends PageQuery {
  @Optional(oneOfWords(AUDITED_ACTIONS), 'Only what did this.', { example: 'api_key.created' })
  action?: AuditedAction;

  @Optional(anyId, 'Only what changed the thing with this id.')
  subjectId?: string;
}
