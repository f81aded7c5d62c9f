import { type Actor, AUDITED_ACTIONS } from '@posthorn/domain';
import { anyObject, idOf, objectOf, text, time, wordOf } from '../openapi/answer-schemas.ts';
import { AnswerField } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

/** Who changed something. */
export class AuditActor {
  @AnswerField(
    'A key of the workspace, a person, an operator, the recipient of an email, or Posthorn itself.',
    wordOf('ActorKind', ['api_key', 'user', 'operator', 'recipient', 'system'] satisfies Actor['kind'][]),
  )
  kind!: string;

  @AnswerField('The id of the key or of the person.', text, {
    optional: true,
    example: 'aki_06bysgjkbxff0h9bkc3gpkwjjv',
  })
  id?: string;

  @AnswerField('Their name at that time.', text, { example: 'Web shop' })
  name!: string;
}

/** A change. */
class AuditEntry {
  @AnswerField('The id of the entry.', idOf('aud'))
  id!: string;

  @AnswerField('What was done.', wordOf('AuditedAction', AUDITED_ACTIONS))
  action!: string;

  @AnswerField('Who did it.', objectOf(AuditActor))
  actor!: AuditActor;

  @AnswerField('The id of the changed object.', text, { example: 'aki_06bysgjkbxff0h9bkc3gpkwjjv' })
  subjectId!: string;

  @AnswerField('What changed; never anything secret.', anyObject, {
    example: { displayName: 'Web shop', role: 'API_USER' },
  })
  detail!: object;

  @AnswerField('When it was done.', time)
  createdAt!: Date;
}

class AuditLogPage extends pageOf('The changes of the page.', AuditEntry) {}

/** The answer that shows changes. */
export class AuditLogAnswer {
  @AnswerField('A page of the changes of the workspace.', objectOf(AuditLogPage))
  auditLog!: AuditLogPage;
}
