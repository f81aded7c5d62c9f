import { parseKeyRing, SecretBox } from '@posthorn/signing';
import { IsKeyRing } from './key-ring-text.ts';
import { Setting } from './setting.ts';

/** How secrets are kept at rest. */
export class SecretSettings {
  @Setting(
    'The keys that encrypt stored secrets (webhook tokens, DKIM private keys): the first encrypts, all of them decrypt. Make one with `openssl rand -base64 32` and keep it as safe as the database: what it encrypted is lost with it.',
    // Not a key: one that is published protects nothing, and somebody would start with it.
    { secret: true, example: 'first:<what openssl rand -base64 32 prints>' },
  )
  @IsKeyRing()
  ENCRYPTION_KEYS!: string;

  /** What encrypts with the first key and decrypts with all. */
  get box(): SecretBox {
    const parsed = parseKeyRing(this.ENCRYPTION_KEYS);
    if ('fault' in parsed) throw new Error(`ENCRYPTION_KEYS: ${parsed.fault}`);
    return new SecretBox(parsed.ring);
  }
}
