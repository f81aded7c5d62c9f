import { describe, expect, it } from '@jest/globals';
import { noSuchTemplate } from './refusals.ts';

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
