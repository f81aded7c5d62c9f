import { anyObject, count, listOf, text } from './answer-schemas.ts';
import { AnswerField } from './answer-field.ts';

/** The body of every answer that is not a success (F8). */
export class ErrorAnswer {
  @AnswerField('The status of the answer.', count, { example: 400 })
  statusCode!: number;

  @AnswerField('The reason phrase of the status.', text, { example: 'Bad Request' })
  error!: string;

  @AnswerField('What is wrong, where, and how to fix it; several faults are joined by `; `.', text, {
    example: '`subject` is missing; give a string',
  })
  message!: string;

  @AnswerField(
    'The verified addresses of the workspace; only in the error about an unverified sender.',
    listOf(text),
    { optional: true },
  )
  allowedEmails?: string[];

  @AnswerField(
    'The verified domains of the workspace; only in the error about an unverified sender.',
    listOf(text),
    { optional: true },
  )
  allowedDomains?: string[];

  @AnswerField('A page that explains the error, if there is one.', text, { optional: true })
  docsUrl?: string;
}

/** The health of a process. */
export class HealthAnswer {
  @AnswerField('The state of the process.', text, { example: 'ready' })
  status!: string;

  @AnswerField('The results of its checks, by name.', anyObject, { example: {} })
  checks!: object;
}
