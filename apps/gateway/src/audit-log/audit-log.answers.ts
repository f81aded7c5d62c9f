import { type Actor, AUDITED_ACTIONS } from '@posthorn/domain';
import { anyObject, idOf, objectOf, text, time, wordOf } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

/** Who changed something. */
export class AuditActor {
  @Shown(
    'A key of the workspace, a person, an operator, the recipient of an email, or Posthorn itself.',
    wordOf(['api_key', 'user', 'operator', 'recipient', 'system'] satisfies Actor['kind'][]),
  )
  kind!: string;

  @Shown('The id of the key or of the person.', text, {
    optional: true,
    example: 'aki_06bysgjkbxff0h9bkc3gpkwjjv',
  })
  id?: string;

  @Shown('What they were called at that time.', text, { example: 'Web shop' })
  name!: string;
}

/** A change. */
class AuditEntry {
  @Shown('The id of the entry.', idOf('aud'))
  id!: string;

  @Shown('What was done.', wordOf(AUDITED_ACTIONS))
  action!: string;

  @Shown('Who did it.', objectOf(AuditActor))
  actor!: AuditActor;

  @Shown('The id of what was changed.', text, { example: 'aki_06bysgjkbxff0h9bkc3gpkwjjv' })
  subjectId!: string;

  @Shown('What changed; never anything secret.', anyObject, {
    example: { displayName: 'Web shop', role: 'API_USER' },
  })
  detail!: object;

  @Shown('When it was done.', time)
  createdAt!: Date;
}

/** A page of changes. */
class AuditLogPage extends pageOf('The changes of the page.', AuditEntry) {}

/** The answer that shows changes. */
export class AuditLogAnswer {
  @Shown('A page of the changes of the workspace.', objectOf(AuditLogPage))
  auditLog!: AuditLogPage;
}
