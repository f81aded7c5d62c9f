import { count, nullable, objectOf, text } from '../openapi/answer-schemas.ts';
import { AnswerField } from '../openapi/answer-field.ts';
import { ErrorAnswer } from '../openapi/service.answers.ts';

/** An item of a batch that was not accepted. */
export class FailedBatchItem {
  @AnswerField('The index of the item in the request, from 0.', count, { example: 2 })
  index!: number;

  @AnswerField('The address as given in the request; `null` if that is not a valid string.', nullable(text), {
    example: 'ada@example.com',
  })
  email!: string | null;

  @AnswerField('The error that the item would have got if sent alone.', objectOf(ErrorAnswer))
  error!: ErrorAnswer;
}
