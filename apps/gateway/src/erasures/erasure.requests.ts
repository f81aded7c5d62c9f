import { address } from '../validation/mailbox-rules.ts';
import { Optional, Required } from '../validation/rule.ts';
import { flag } from '../validation/object-rules.ts';

/** The body of the call that erases a person. */
export class EraseRequest {
  @Required(address, 'The address of the person, without a name; letter case does not matter.', {
    example: 'ada@example.com',
  })
  email!: string;

  @Optional(
    flag,
    'Whether nothing is to be sent to the address again. By default only where it is on the suppression list or has unsubscribed.',
    { example: false },
  )
  suppress = false;
}
