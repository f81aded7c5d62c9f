import { anyObject, count, listOf, text } from './answer-schemas.ts';
import { Shown } from './shown.ts';

/** The body of every answer that is not a success (F8). */
export class ErrorAnswer {
  @Shown('The status of the answer.', count, { example: 400 })
  statusCode!: number;

  @Shown('The reason phrase of the status.', text, { example: 'Bad Request' })
  error!: string;

  @Shown('What is wrong, where, and how to fix it; several faults are joined by `; `.', text, {
    example: '`subject` is missing; give a string',
  })
  message!: string;

  @Shown('The verified addresses of the workspace; only where the sender is not verified.', listOf(text), {
    optional: true,
  })
  allowedEmails?: string[];

  @Shown('The verified domains of the workspace; only where the sender is not verified.', listOf(text), {
    optional: true,
  })
  allowedDomains?: string[];

  @Shown('A page that explains the error, where there is one.', text, { optional: true })
  docsUrl?: string;
}

/** How a process is. */
export class HealthAnswer {
  @Shown('The state of the process.', text, { example: 'ready' })
  status!: string;

  @Shown('What it looked at, by name.', anyObject, { example: {} })
  checks!: object;
}
