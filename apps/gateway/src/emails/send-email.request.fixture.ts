import { Refusal } from '@posthorn/kernel';
import { judgeEmailRequest } from './judge-email-request.ts';

/** The least sound emails of both kinds. */
export const RAW = {
  from: 'Shop <shop@example.com>',
  to: 'ada@example.com',
  subject: 'Hello',
  html: '<p>Hi</p>',
};
export const TEMPLATED = { template: 'welcome', to: 'ada@example.com' };

/** What a body is refused with. */
export function refusalOf(body: unknown): Refusal {
  try {
    judgeEmailRequest(body);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error(`taken: ${JSON.stringify(body).slice(0, 200)}`);
}

/** The message that a body is refused with. */
export const messageFor = (body: unknown): string => refusalOf(body).message;
