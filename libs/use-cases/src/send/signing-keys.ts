import type { KeyObject } from 'node:crypto';
import { Coalescer, LruCache } from '@posthorn/kernel';
import {
  type DkimKeyStore,
  sealContextOf,
  SEALED_COLUMNS,
  type SealedSigningKey,
  type SendingDomain,
} from '@posthorn/database';
import { type DkimSigner, parseDkimKey, type SecretBox } from '@posthorn/signing';

const MAX_PER_LOOKUP = 500;
/** A few kilobytes each. */
const MAX_CACHED = 1_000;

interface DomainSigners {
  /** RSA first. None: its emails are sent unsigned. */
  readonly signers: readonly DkimSigner[];
  /** Set when a key is missing because it cannot be decrypted. */
  readonly fault?: Error;
}

/**
 * The DKIM keys of domains at the moment of signing. Which keys are current is queried each time, in one statement for all concurrent emails; only parsed
 * private keys, which never change, are cached.
 */
export class SigningKeys {
  private readonly parsed = new LruCache<string, KeyObject>(MAX_CACHED);
  private readonly lookUps: Coalescer<SendingDomain, DomainSigners>;

  constructor(
    store: Pick<DkimKeyStore, 'readSigningKeys'>,
    private readonly box: SecretBox,
  ) {
    this.lookUps = new Coalescer({
      serve: async (asked) => {
        const wanted = new Map(asked.map((each) => [nameOf(each), each]));
        const found = await store.readSigningKeys([...wanted.values()]);
        const opened = new Map([...wanted].map(([name, each], n) => [name, this.open(each, found[n]!)]));
        return asked.map((each) => opened.get(nameOf(each))!);
      },
      maxItems: MAX_PER_LOOKUP,
    });
  }

  /** @throws what the database throws */
  find(domain: SendingDomain): Promise<DomainSigners> {
    return this.lookUps.add(domain);
  }

  /** A key that cannot be decrypted is a fault of its own domain, and must not fail the others of the group. */
  private open({ domain }: SendingDomain, keys: readonly SealedSigningKey[]): DomainSigners {
    const signers: DkimSigner[] = [];
    let fault: Error | undefined;
    for (const key of keys) {
      const { algorithm, selector } = key;
      try {
        signers.push({ algorithm, domain, selector, privateKey: this.privateKeyOf(key) });
      } catch (error) {
        fault = error as Error;
      }
    }
    return fault === undefined ? { signers } : { signers, fault };
  }

  private privateKeyOf({ id, sealedPrivateKey }: SealedSigningKey): KeyObject {
    const known = this.parsed.get(id);
    if (known !== undefined) return known;
    const context = sealContextOf(SEALED_COLUMNS.dkimPrivateKey, id);
    const key = parseDkimKey(this.box.open(sealedPrivateKey, context));
    this.parsed.set(id, key);
    return key;
  }
}

function nameOf({ workspaceId, domain }: SendingDomain): string {
  return `${workspaceId} ${domain}`;
}
