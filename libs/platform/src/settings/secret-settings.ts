import {
  BounceAddresses,
  KEY_RING_FORM,
  type KeyRing,
  LinkSigner,
  parseKeyRing,
  SecretBox,
} from '@posthorn/signing';
import { IsOfForm } from './is-of-form.ts';
import { Setting } from './setting.ts';

/** How secrets are kept at rest. */
export class SecretSettings {
  @Setting(
    'The keys that encrypt stored secrets (webhook tokens, DKIM private keys) and sign the links in emails: the first one encrypts and signs, all of them decrypt and verify. Make one with `openssl rand -base64 32` and keep it as safe as the database: if it is lost, so is what it encrypted.',
    // Not a key: one that is published protects nothing, and somebody would start with it.
    { secret: true, example: 'first:<what openssl rand -base64 32 prints>' },
  )
  @IsOfForm(KEY_RING_FORM, (text) => 'ring' in parseKeyRing(text))
  ENCRYPTION_KEYS!: string;

  /** What encrypts with the first key and decrypts with all. */
  get box(): SecretBox {
    return new SecretBox(this.ring);
  }

  /** What signs links with keys that are derived from these. */
  get linkSigner(): LinkSigner {
    return new LinkSigner(this.ring);
  }

  /** The addresses at this domain that mail about emails comes back to; they are signed with keys that are derived from these. */
  bounceAddresses(domain: string): BounceAddresses {
    return new BounceAddresses(this.ring, domain);
  }

  private get ring(): KeyRing {
    const parsed = parseKeyRing(this.ENCRYPTION_KEYS);
    if ('fault' in parsed) throw new Error(`ENCRYPTION_KEYS: ${parsed.fault}`);
    return parsed.ring;
  }
}
