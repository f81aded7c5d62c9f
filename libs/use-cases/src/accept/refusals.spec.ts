import { describe, expect, it } from '@jest/globals';
import type { IdentityId } from '@posthorn/kernel';
import { noSuchTemplate, unverifiedSender } from './refusals.ts';

describe('The refusal of an unknown template', () => {
  it('says for a name that it must be created', () => {
    expect(noSuchTemplate('welcom').message).toBe(
      '`template` names no template of this workspace: "welcom"; create it first',
    );
  });

  it('says for an id that templates are referred to by name', () => {
    expect(noSuchTemplate('tpl_01m7yxt5zwexraawhax4wxnnqq').message).toBe(
      '`template` names no template of this workspace: "tpl_01m7yxt5zwexraawhax4wxnnqq"; give the `name` of the template, not its id',
    );
  });
});

describe('The refusal of a sender', () => {
  const messageFor = (value?: string) => {
    const unverified =
      value === undefined ? null : { id: 'idn_01m7yxt5zwexraawhax4wxnnqq' as IdentityId, value };
    return unverifiedSender(
      { address: 'ada@other.example' },
      { addresses: [], domains: ['example.com'], unverified },
    ).message;
  };
  const REFUSED =
    '`from` is ada@other.example, which is neither a verified address nor on a verified domain of this workspace; send from one of those listed, or verify this one first';

  it.each([
    [undefined, ''],
    [
      'other.example',
      ': the domain other.example is added but not verified; `GET /v1/identities/idn_01m7yxt5zwexraawhax4wxnnqq` says which DNS record is missing or wrong, and `POST /v1/identities/idn_01m7yxt5zwexraawhax4wxnnqq/verify` looks for it at once',
    ],
    [
      'ada@other.example',
      ': the address ada@other.example is added but not verified; use the link in the mail that was sent there (`POST /v1/identities/idn_01m7yxt5zwexraawhax4wxnnqq/verify` sends another)',
    ],
  ])('X1: says what is left to do when the workspace has added %s', (value, step) => {
    expect(messageFor(value)).toBe(REFUSED + step);
  });
});
