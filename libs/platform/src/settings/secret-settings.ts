import {
  type AddressPurpose,
  KEY_RING_FORM,
  type KeyRing,
  LinkSigner,
  parseKeyRing,
  SecretBox,
  SignedAddresses,
} from '@posthorn/signing';
import { HasForm } from './has-form.ts';
import { Setting } from './setting.ts';

/** The keys for secrets at rest, links and bounce addresses. */
export class SecretSettings {
  @Setting(
    'The keys that encrypt stored secrets (webhook tokens, DKIM private keys) and sign the links in emails: the first one encrypts and signs, all of them decrypt and verify. Create one with `openssl rand -base64 32` and keep it as safe as the database: without it, what it encrypted cannot be recovered.',
    // Not a real key, because somebody would use the published one.
    { secret: true, example: 'first:<what openssl rand -base64 32 prints>' },
  )
  // What does not have this form is refused by `faults`, which say which of the keys is wrong.
  @HasForm(KEY_RING_FORM, () => true)
  ENCRYPTION_KEYS!: string;

  faults(): string[] {
    const parsed = parseKeyRing(this.ENCRYPTION_KEYS);
    return 'fault' in parsed ? [`ENCRYPTION_KEYS: ${parsed.fault}`] : [];
  }

  /** Encrypts with the first key and decrypts with all. */
  get box(): SecretBox {
    return new SecretBox(this.ring);
  }

  /** Signs links with keys that are derived from these. */
  get linkSigner(): LinkSigner {
    return new LinkSigner(this.ring);
  }

  /** The addresses for a purpose at this domain, signed with keys that are derived from these; without a domain there are none. */
  addresses(purpose: AddressPurpose, domain: string): SignedAddresses;
  addresses(purpose: AddressPurpose, domain: string | undefined): SignedAddresses | undefined;
  addresses(purpose: AddressPurpose, domain: string | undefined): SignedAddresses | undefined {
    return domain === undefined ? undefined : new SignedAddresses(this.ring, purpose, domain);
  }

  private get ring(): KeyRing {
    const parsed = parseKeyRing(this.ENCRYPTION_KEYS);
    if ('fault' in parsed) throw new Error(`ENCRYPTION_KEYS: ${parsed.fault}`);
    return parsed.ring;
  }
}
