import { API_KEY_STATUSES, type ApiKeyStatus, type Role, ROLE_NAMES } from '@posthorn/domain';
import { idOf, nullable, objectOf, text, time, bool, wordOf } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';
import { pageOf } from '../paging/page-answer.ts';

const NAME = 'The name of the key.';
const ROLE = 'What the key may do: `VIEWER` reads, `API_USER` also sends, `EDITOR` also manages.';

/** An API key (F6). */
export class ApiKey {
  @AnswerField('The id of the key.', idOf('aki'))
  id!: string;

  @AnswerField(NAME, text, { example: 'Web shop' })
  displayName!: string;

  @AnswerField(ROLE, wordOf('Role', ROLE_NAMES), { example: 'API_USER' })
  role!: Role;

  @AnswerWord('ApiKeyStatus', API_KEY_STATUSES)
  status!: ApiKeyStatus;

  @AnswerField('The secret, abbreviated: its first 8 and last 4 characters.', text, {
    example: 'phk_3VbT...x9Qa',
  })
  secretKey!: string;

  @AnswerField('When it was created.', time)
  createdAt!: Date;

  @AnswerField('When it was last changed.', time)
  updatedAt!: Date;

  @AnswerField('When a request last used it, to within about a minute; `null` if none has.', nullable(time))
  lastUsedAt!: Date | null;
}

/** A key with its whole secret. */
export class CreatedApiKey extends ApiKey {
  @AnswerField('The whole secret: it is shown only this once and cannot be retrieved again.', text, {
    example: 'phk_3VbTq8Zk1mNwY7rLcX5dHsJ2fGpA9eUoKx9QaB',
  })
  declare secretKey: string;
}

class ApiKeyPage extends pageOf('The keys of the page.', ApiKey, time) {}

/** The answer that lists keys. */
export class ApiKeysAnswer {
  @AnswerField('A page of the keys of the workspace.', objectOf(ApiKeyPage))
  apiKeys!: ApiKeyPage;
}

/** The answer that shows a key. */
export class ApiKeyAnswer {
  @AnswerField('The key.', objectOf(ApiKey))
  apiKey!: ApiKey;
}

/** The answer to a key that was created. */
export class ApiKeyCreatedAnswer {
  @AnswerField('The key, with its whole secret.', objectOf(CreatedApiKey))
  apiKey!: CreatedApiKey;
}

/** The answer to a key that was deleted. */
export class ApiKeyDeletedAnswer extends ApiKeyAnswer {
  @AnswerField('Always `true`.', bool)
  isDeleted!: true;
}

/** The answer to a key that is good. */
export class ApiKeyCheckAnswer {
  @AnswerField('Always `SUCCEED`.', wordOf('ApiKeyCheckStatus', ['SUCCEED']))
  status!: 'SUCCEED';

  @AnswerField(NAME, text, { example: 'Web shop' })
  displayName!: string;

  @AnswerField(ROLE, wordOf('Role', ROLE_NAMES), { example: 'API_USER' })
  role!: Role;
}
