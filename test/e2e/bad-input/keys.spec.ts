import { describe, it } from '@jest/globals';
import { type Case, casesOf, inBody, NON_STRINGS, texts } from './cases.ts';
import { CONTROLS, INVISIBLE, tooLong } from './faults/texts.ts';
import { RefusingStack } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const CREATE = 'POST /v1/workspaces/{workspace_id}/api-keys';
const UPDATE = 'POST /v1/workspaces/{workspace_id}/api-keys/{api_key_id}';

describe('K4: the name of a key', () => {
  const names = [
    ...texts('', ' ', '\u00a0', '\t', '\n', '\u3000\u2003'),
    ...CONTROLS.flatMap((control) => texts(`a${control}b`)),
    ...INVISIBLE.flatMap((character) => texts(`a${character}b`)),
    ...tooLong(100),
    ...NON_STRINGS,
  ];
  const places = [inBody(CREATE, 'displayName'), inBody(UPDATE, 'displayName')];
  const missing = {
    what: 'no name',
    route: CREATE,
    body: {},
    status: 400,
    names: '`displayName` is missing',
  };
  it('must be visible, and have 1 to 100 characters', () =>
    refusing.refusesAll([...casesOf(names, places), missing]));
});

const INVALID_ROLES: readonly string[] = [
  '',
  ' ',
  'EDITOR ',
  ' EDITOR',
  'EDITOR\n',
  'EDITOR\u00a0',
  'API_USER\t',
  'API USER',
  'VIEWER EDITOR',
  ...'editor Editor EDITORS ADMIN OWNER ROOT SUPERUSER USER api_user API-USER APIUSER VIEWER,EDITOR'.split(
    ' ',
  ),
  ...'NONE * null ALL READ WRITE 0 1 __proto__ constructor toString ЕDITOR ＥＤＩＴＯＲ viewer Viewer'.split(
    ' ',
  ),
  'EDI\u200bTOR',
  'x'.repeat(10_000),
  'EDITOR;',
  '"EDITOR"',
  'role',
  'ARCHIVED',
  'ACTIVE',
];

describe('K2, K4: the role of a key', () => {
  const places = [inBody(CREATE, 'role', { displayName: 'Key' }), inBody(UPDATE, 'role')];
  it('must be one of the three', () =>
    refusing.refusesAll(casesOf([...texts(...INVALID_ROLES), ...NON_STRINGS], places)));

  it('is suggested where only its case is wrong', () =>
    refusing.refuses({
      what: 'small letters',
      route: UPDATE,
      body: { role: 'editor' },
      status: 400,
      names: '; did you mean `EDITOR`?',
    }));
});

describe('G4: fields of a key that nobody may set', () => {
  const fields = 'id secretKey status createdAt updatedAt lastUsedAt workspaceId scopes name display_name';
  const faulty = (route: string, field: string): Case => ({
    what: field,
    route,
    body: { displayName: 'Key', [field]: 'x' },
    status: 400,
    names: `\`${field}\` is not a known field`,
  });
  it.each([CREATE, UPDATE])('%s', (route) =>
    refusing.refusesAll(fields.split(' ').map((field) => faulty(route, field))),
  );
});
