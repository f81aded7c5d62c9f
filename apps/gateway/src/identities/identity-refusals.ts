import type { IdentityId } from '@posthorn/kernel';
import {
  identityRefusal,
  keysOfAddress,
  noSystemMails,
  rotatedTooEarly,
  tooManyDkimKeys,
  tooManyMails,
} from '@posthorn/use-cases';
import type { Refusals } from '../openapi/describes.ts';

/** The refusals of calls that send a mail with a link, or generate keys. */
const MAIL_AND_KEY_REFUSALS: Refusals = {
  'No mails': noSystemMails(),
  'Too many mails': tooManyMails({ refused: 'too_many_mails', retryAfterSeconds: 60 }),
  'Too many keys': tooManyDkimKeys(),
};

export const CREATE_REFUSALS: Refusals = {
  'There already': identityRefusal('domain', {
    refused: 'exists',
    id: 'idn_01h2xcejqtf2nbrexx3vqjhp41' as IdentityId,
  }),
  'Too many identities': identityRefusal('domain', { refused: 'too_many' }),
  ...MAIL_AND_KEY_REFUSALS,
};

export const ROTATE_REFUSALS: Refusals = {
  'An address': keysOfAddress(),
  'Too early': rotatedTooEarly(Date.parse('2026-11-28T11:28:07.676Z')),
  'Too many keys': tooManyDkimKeys(),
};

export const VERIFY_REFUSALS: Refusals = MAIL_AND_KEY_REFUSALS;
