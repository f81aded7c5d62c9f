import { describe, expect, it } from '@jest/globals';
import { IsString, validateSync, type ValidationError } from 'class-validator';
import fc from 'fast-check';
import { RawEmailRequest, TemplatedEmailRequest } from '../emails/send-email.request.ts';
import { faultsInFields, shapeOf } from './shape.ts';

const VALUES = [
  undefined,
  null,
  '',
  'x',
  'a@b.co',
  'A <a@b.co>',
  'a@b.co\r\n',
  0,
  true,
  [],
  ['a@b.co', 1],
  {},
  { trackOpens: 1 },
  '2030-01-01T00:00:00Z',
];

function messagesOf(errors: ValidationError[]): string[] {
  return errors.flatMap((error) => Object.values(error.constraints ?? {})).sort();
}

describe.each([
  ['RawEmailRequest', RawEmailRequest],
  ['TemplatedEmailRequest', TemplatedEmailRequest],
])('the shape of %s', (_, requestClass: new () => object) => {
  const shape = shapeOf(requestClass);

  it('finds the same faults as class-validator, in every field', () => {
    const fields = Object.fromEntries(
      shape.names.map((name) => [name, fc.oneof(fc.constantFrom(...VALUES), fc.jsonValue())]),
    );
    fc.assert(
      fc.property(fc.record(fields, { requiredKeys: [] }), (body) => {
        const expected = messagesOf(validateSync(Object.assign(new requestClass(), body)));
        expect(faultsInFields(shape, body).sort()).toEqual(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('has the same fields as class-validator', () => {
    const body = Object.fromEntries([...shape.names, 'other'].map((name) => [name, 1]));
    const errors = validateSync(Object.assign(new requestClass(), body), {
      whitelist: true,
      forbidNonWhitelisted: true,
    });
    expect(
      errors.filter((error) => error.constraints?.['whitelistValidation']).map((error) => error.property),
    ).toEqual(['other']);
  });
});

describe('shapeOf', () => {
  it('refuses a class with a field that would not be validated', () => {
    class Half {
      @IsString()
      name!: string;
    }
    expect(() => shapeOf(Half)).toThrow('Half.name has no rule');
    expect(() => shapeOf(class Nothing {})).toThrow('Nothing has no rules');
  });
});
