import type { DescribedRefusal } from './describes.ts';

/** What a route is refused with that needs a mail of Posthorn's own. */
export const NO_MAILS: DescribedRefusal = {
  status: 409,
  when: 'No mails',
  message:
    'This installation sends no mails of its own, and this needs one; its operator has to set `SYSTEM_FROM`',
};
