import type { EmailId } from '@posthorn/kernel';
import type { SignedAddresses } from '@posthorn/signing';

const SIGNED_BY_NONE =
  'no key in ENCRYPTION_KEYS has signed the address it was for: a key is missing there, or somebody forged it';

/** Addresses that are about one email each. */
export interface AddressesOfEmails {
  readonly addresses: Pick<SignedAddresses, 'emailOf' | 'hasForm'>;
  /** Called for an address that has their form, but is signed by no key. */
  readonly onError: (error: Error) => void;
}

/** The email that an address is about; undefined: there is no such address. */
export function emailOfAddress(
  address: string,
  { addresses, onError }: AddressesOfEmails,
): EmailId | undefined {
  const id = addresses.emailOf(address);
  if (id === undefined && addresses.hasForm(address)) onError(new Error(SIGNED_BY_NONE));
  return id;
}
