import { ERASURE_STATES } from '@posthorn/domain';
import { bool, count, idOf, nullable, objectOf, text, time } from '../openapi/answer-schemas.ts';
import { AnswerField, AnswerWord } from '../openapi/answer-field.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';

const counts: JsonSchema = { type: 'object', additionalProperties: count };

/** What is erased about a person. It does not contain the address, so it can be kept. */
export class Erasure {
  @AnswerField('The id of the erasure.', idOf('ers'))
  id!: string;

  @AnswerField(
    'SHA-256 of the address in lower case, in hexadecimal: whoever knows the address can prove that this is about it.',
    text,
    {
      example: 'b5fc85e55755f9e0d030a10ab4429b6b2944855f9a0d60077fe832becbc41d72',
    },
  )
  recipient!: string;

  @AnswerField('Whether nothing is sent to the address again, whatever lists it was on.', bool, {
    example: false,
  })
  suppress!: boolean;

  @AnswerWord('ErasureStatus', ERASURE_STATES, { example: 'REDACTING' })
  status!: string;

  @AnswerField('How many rows of the workspace have been searched.', count, { example: 52_000 })
  searched!: number;

  @AnswerField('How many rows were deleted, by kind of data.', counts, {
    example: { emails: 12, emailContents: 12, emailEvents: 31, events: 9, webhookDeliveries: 9, contacts: 1 },
  })
  deleted!: Readonly<Record<string, number>>;

  @AnswerField('In how many rows `[erased]` is now in place of the address, by kind of data.', counts, {
    example: { emailContents: 2, auditLog: 1 },
  })
  redacted!: Readonly<Record<string, number>>;

  @AnswerField(
    'How many rows still contain the address, by kind of data: what the workspace wrote itself, such as templates, and emails to others that have not been sent.',
    counts,
    { example: { templateVersions: 1 } },
  )
  left!: Readonly<Record<string, number>>;

  @AnswerField(
    'Whether a hash of the address is kept, so that nothing that the workspace does not want is sent to it.',
    bool,
    {
      example: true,
    },
  )
  isRemembered!: boolean;

  @AnswerField('How many emails, events and deliveries that were due were cancelled.', count, { example: 1 })
  cancelled!: number;

  @AnswerField(
    'How many emails and events were not erased because they were being sent. If it is not 0 when the erasure is completed, request it again.',
    count,
    { example: 0 },
  )
  inProgress!: number;

  @AnswerField('When it was requested.', time)
  createdAt!: Date;

  @AnswerField('When it was completed; `null` before.', nullable(time), { example: null })
  finishedAt!: Date | null;
}

/** The answer that shows an erasure. */
export class ErasureAnswer {
  @AnswerField('The erasure.', objectOf(Erasure))
  erasure!: Erasure;
}
