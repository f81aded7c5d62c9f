import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';

/** The value. @throws Refusal (404) with this message when it is undefined */
export function orNotFound<Value>(value: Value | undefined, otherwise: string): Value {
  if (value === undefined) throw new Refusal(404, otherwise);
  return value;
}

/** Sets the status of a refused form. @returns why it was refused, to be shown above the form @throws any error that is not about the input */
export function applyRefusal(error: unknown, response: Response): string {
  if (!(error instanceof Refusal) || error.statusCode >= 500) throw error;
  response.status(error.statusCode);
  return error.message;
}
