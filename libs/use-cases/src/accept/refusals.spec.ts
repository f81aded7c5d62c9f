import { describe, expect, it } from '@jest/globals';
import { noSuchTemplate } from './refusals.ts';

describe('A template that is not there', () => {
  it('by a name is to be created', () => {
    expect(noSuchTemplate('welcom').message).toBe(
      '`template` names no template of this workspace: "welcom"; create it first',
    );
  });

  it('by the id of one is to be named by its name', () => {
    expect(noSuchTemplate('tpl_01m7yxt5zwexraawhax4wxnnqq').message).toBe(
      '`template` names no template of this workspace: "tpl_01m7yxt5zwexraawhax4wxnnqq"; give the `name` of the template, not its id',
    );
  });
});
