import { parseMailbox } from '@posthorn/domain';
import { ValidateBy } from 'class-validator';

/** How a mailbox is described to an operator. */
export const MAILBOX_FORM = 'one mailbox, such as `ada@example.com` or `Ada <ada@example.com>`';

/** Accepts one mailbox, with or without a name. */
export function IsMailbox(): PropertyDecorator {
  return ValidateBy({
    name: 'isMailbox',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && 'mailbox' in parseMailbox(value),
      defaultMessage: () => `must be ${MAILBOX_FORM}`,
    },
  });
}
