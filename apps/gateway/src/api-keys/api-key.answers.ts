import { API_KEY_STATUSES, type ApiKeyStatus, type Role, ROLE_NAMES } from '@posthorn/domain';
import { idOf, nullable, objectOf, text, time, truth, wordOf } from '../openapi/answer-schemas.ts';
import { Shown } from '../openapi/shown.ts';
import { pageOf } from '../paging/page-answer.ts';

const NAME = 'The name of the key.';
const ROLE = 'What the key may do: `VIEWER` reads, `API_USER` also sends, `EDITOR` also manages.';

/** An API key (F6). */
export class ApiKey {
  @Shown('The id of the key.', idOf('aki'))
  id!: string;

  @Shown(NAME, text, { example: 'Web shop' })
  displayName!: string;

  @Shown(ROLE, wordOf(ROLE_NAMES), { example: 'API_USER' })
  role!: Role;

  @Shown('`ACTIVE`; in the answer to its deletion `ARCHIVED`.', wordOf(Object.keys(API_KEY_STATUSES)))
  status!: ApiKeyStatus;

  @Shown('The secret, abbreviated: its first 8 and last 4 characters.', text, { example: 'phk_3VbT...x9Qa' })
  secretKey!: string;

  @Shown('When it was created.', time)
  createdAt!: Date;

  @Shown('When it was last changed.', time)
  updatedAt!: Date;

  @Shown('When a request last carried it, to about a minute; `null`: none has yet.', nullable(time))
  lastUsedAt!: Date | null;
}

/** A key with its whole secret. */
export class CreatedApiKey extends ApiKey {
  @Shown('The whole secret: it is shown only this once and cannot be retrieved again.', text, {
    example: 'phk_3VbTq8Zk1mNwY7rLcX5dHsJ2fGpA9eUoKx9QaB',
  })
  declare secretKey: string;
}

/** A page of keys. */
export class ApiKeyPage extends pageOf('The keys of the page.', ApiKey, time) {}

/** The answer that lists keys. */
export class ApiKeysAnswer {
  @Shown('A page of the keys of the workspace.', objectOf(ApiKeyPage))
  apiKeys!: ApiKeyPage;
}

/** The answer that shows a key. */
export class ApiKeyAnswer {
  @Shown('The key.', objectOf(ApiKey))
  apiKey!: ApiKey;
}

/** The answer to a key that was created. */
export class ApiKeyCreatedAnswer {
  @Shown('The key, with its whole secret.', objectOf(CreatedApiKey))
  apiKey!: CreatedApiKey;
}

/** The answer to a key that was deleted. */
export class ApiKeyDeletedAnswer extends ApiKeyAnswer {
  @Shown('Always `true`.', truth)
  isDeleted!: true;
}

/** The answer to a key that is good. */
export class ApiKeyCheckAnswer {
  @Shown('Always `SUCCEED`.', wordOf(['SUCCEED']))
  status!: 'SUCCEED';

  @Shown(NAME, text, { example: 'Web shop' })
  displayName!: string;

  @Shown(ROLE, wordOf(ROLE_NAMES), { example: 'API_USER' })
  role!: Role;
}
