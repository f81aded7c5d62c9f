import { Refusal } from '@posthorn/kernel';
import { WORKSPACE_LIMITS } from '@posthorn/domain';
import type { IdentityRefusal, MailRefusal } from '@posthorn/database';

/** The refusal for an identity that was not added. */
export function identityRefusal(field: 'address' | 'domain', refusal: IdentityRefusal): Refusal {
  switch (refusal.refused) {
    case 'exists':
      return new Refusal(
        409,
        `\`${field}\` is an identity of the workspace already, ${refusal.id}; verify that one, or delete it first`,
      );
    case 'too_many': {
      const { identities } = WORKSPACE_LIMITS;
      return new Refusal(409, `The workspace has ${identities} identities, the maximum; delete one first`);
    }
    case 'too_many_mails':
      return tooManyMails(refusal);
  }
}

/** Verification mails go to any address that a caller names, so their number is limited. */
export function tooManyMails({ retryAfterSeconds }: MailRefusal): Refusal {
  return new Refusal(
    429,
    'Too many verification mails were requested recently, for this address or in this workspace; try again after as many seconds as `Retry-After` says',
    { retryAfterSeconds },
  );
}
