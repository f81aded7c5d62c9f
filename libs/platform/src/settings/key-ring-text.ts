import { KEY_RING_FORM, parseKeyRing } from '@posthorn/signing';
import { ValidateBy } from 'class-validator';

/** Accepts a ring of encryption keys. */
export function IsKeyRing(): PropertyDecorator {
  return ValidateBy({
    name: 'isKeyRing',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && 'ring' in parseKeyRing(value),
      defaultMessage: () => `must be ${KEY_RING_FORM}`,
    },
  });
}
