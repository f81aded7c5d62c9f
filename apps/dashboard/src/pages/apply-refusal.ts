import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';

/** Sets the status of a refused form. @returns why it was refused, to be shown above the form @throws any error that is not about the input */
export function applyRefusal(error: unknown, response: Response): string {
  if (!(error instanceof Refusal) || error.statusCode >= 500) throw error;
  response.status(error.statusCode);
  return error.message;
}
