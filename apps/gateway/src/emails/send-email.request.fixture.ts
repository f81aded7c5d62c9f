import { Refusal } from '@posthorn/kernel';
import { validateEmailRequest } from './validate-email-request.ts';

/** Minimal valid emails of both kinds. */
export const RAW = {
  from: 'Shop <shop@example.com>',
  to: 'ada@example.com',
  subject: 'Hello',
  html: '<p>Hi</p>',
};
export const TEMPLATED = { template: 'welcome', to: 'ada@example.com' };

/** The refusal of a body. */
export function refusalOf(body: unknown): Refusal {
  try {
    validateEmailRequest(body);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error(`taken: ${JSON.stringify(body).slice(0, 200)}`);
}

/** The message of the refusal of a body. */
export const messageFor = (body: unknown): string => refusalOf(body).message;
