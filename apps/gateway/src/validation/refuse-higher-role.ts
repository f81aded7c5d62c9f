import { Refusal } from '@posthorn/kernel';
import { mayGrant, type Role } from '@posthorn/domain';

/** A key cannot grant a role above its own (K3). @throws Refusal (403) */
export function refuseHigherRole(own: Role, granted: Role | undefined): void {
  if (granted !== undefined && !mayGrant(own, granted)) {
    throw new Refusal(
      403,
      `The API key may not give the role \`${granted}\`, which is above its own, \`${own}\``,
    );
  }
}
