import { count, listOf, nullable, objectOf, text } from '../openapi/answer-schemas.ts';
import { AnswerField } from '../openapi/answer-field.ts';
import { ErrorAnswer } from '../openapi/service.answers.ts';
import { Email } from './email.answers.ts';

/** An item of a batch that was not accepted. */
class FailedItem {
  @AnswerField('The index of the item in the request, from 0.', count, { example: 2 })
  index!: number;

  @AnswerField(
    'The recipient as given in the request; `null` if that is not a valid string.',
    nullable(text),
    {
      example: 'ada@example.com',
    },
  )
  to!: string | null;

  @AnswerField('The error that the email would have got if sent alone.', objectOf(ErrorAnswer))
  error!: ErrorAnswer;
}

/** What became of the items of a batch. */
class BatchResult {
  @AnswerField('The accepted emails, in the order of the request.', listOf(Email))
  successful!: Email[];

  @AnswerField('The items that were not accepted, in the order of the request.', listOf(FailedItem))
  failed!: FailedItem[];
}

export class BatchAcceptedAnswer {
  @AnswerField('The result of each item.', objectOf(BatchResult))
  emails!: BatchResult;
}
