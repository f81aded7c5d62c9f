import { DEFAULT_ROLE, type Role, ROLE_NAMES, SIZES } from '@posthorn/domain';
import { Optional, Required } from '../validation/rule.ts';
import { givenName, oneOfWords } from '../validation/text-rules.ts';

const NAME = givenName(SIZES.apiKeyDisplayName);
const ROLE = oneOfWords('Role', ROLE_NAMES);

/** The body of the call that creates a key (K4). */
export class CreateApiKeyRequest {
  @Required(NAME, 'The name of the key: who or what uses it.', { example: 'Web shop' })
  displayName!: string;

  @Optional(ROLE, 'What the key may do: `VIEWER` reads, `API_USER` also sends, `EDITOR` also manages.', {
    example: 'API_USER',
  })
  role: Role = DEFAULT_ROLE;
}

/** The body of the call that changes a key. Absent fields stay unchanged. */
export class UpdateApiKeyRequest {
  @Optional(NAME, 'The name of the key.', { example: 'Web shop, Berlin' })
  displayName?: string;

  @Optional(ROLE, 'What the key may do.', { example: 'VIEWER' })
  role?: Role;
}
