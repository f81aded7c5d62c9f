import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';

/** Answers with the status of what was refused, and gives why: that is said above the form, which stays filled. @throws what is not about what was filled in */
export function refused(error: unknown, response: Response): string {
  if (!(error instanceof Refusal) || error.statusCode >= 500) throw error;
  response.status(error.statusCode);
  return error.message;
}
