import { type JsonObject, SIZES } from '@posthorn/domain';
import { mailbox } from '../validation/mailbox-rules.ts';
import { integer, jsonObject } from '../validation/object-rules.ts';
import { Optional, Required } from '../validation/rule.ts';

const variables = jsonObject({ size: SIZES.variables });
const VARIABLES =
  'The variables of the template, up to 256 KiB as JSON and 32 levels; those that it prints and that have no default are required.';
const EXAMPLE = { orderId: '10042', firstName: 'Ada', items: [{ name: 'Tea', price: 12.5 }] };

/** The body of the call that previews a template. */
export class PreviewTemplateRequest {
  @Optional(variables, VARIABLES, { example: EXAMPLE })
  variables?: JsonObject;

  @Optional(integer({ min: 1, max: 2_147_483_647 }), 'The number of a version; the current one if absent.', {
    example: 1,
  })
  version?: number;
}

/** The body of the call that sends a test email of a template. */
export class SendTestEmailRequest {
  @Required(mailbox, 'The recipient: one mailbox, `a@b.c` or `Name <a@b.c>`.', {
    example: 'Ada Lovelace <ada@example.com>',
  })
  to!: string;

  @Optional(variables, VARIABLES, { example: EXAMPLE })
  variables?: JsonObject;
}
