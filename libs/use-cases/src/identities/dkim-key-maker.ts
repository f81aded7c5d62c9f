import { type IdentityId, newUuid, Refusal } from '@posthorn/kernel';
import { dkimSelector } from '@posthorn/domain';
import { type NewDkimKey, placeOf, SEALED_COLUMNS } from '@posthorn/database';
import { type DkimAlgorithm, newDkimKeyPair, type SecretBox } from '@posthorn/signing';

const ALGORITHMS: readonly DkimAlgorithm[] = ['rsa', 'ed25519'];

/** An RSA key takes a thread for some hundred milliseconds; what waits longer than a few seconds had better come again. */
const MOST_WAITING = 20;
const RETRY_AFTER_SECONDS = 5;

export interface DkimKeyMakerOptions {
  readonly secretBox: SecretBox;
  readonly clock: { nowMs(): number };
}

/** Makes the keys of domains, one pair after the other, so that whoever adds many takes the threads of nobody. */
export class DkimKeyMaker {
  private waiting = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: DkimKeyMakerOptions) {}

  /**
   * A key of each algorithm for a domain, sealed.
   *
   * @throws Refusal (503) when too many wait for theirs
   */
  async make(identityId: IdentityId): Promise<NewDkimKey[]> {
    if (this.waiting >= MOST_WAITING) {
      const details = { retryAfterSeconds: RETRY_AFTER_SECONDS };
      throw new Refusal(503, 'Too many domains are being added at once; try again in some seconds', details);
    }
    this.waiting += 1;
    const made = this.last.then(() => this.makeNow(identityId));
    this.last = made.catch(() => undefined);
    try {
      return await made;
    } finally {
      this.waiting -= 1;
    }
  }

  private async makeNow(identityId: IdentityId): Promise<NewDkimKey[]> {
    const keys: NewDkimKey[] = [];
    for (const algorithm of ALGORITHMS) {
      const { publicKey, privateKey } = await newDkimKeyPair(algorithm);
      const id = newUuid(this.options.clock.nowMs());
      const place = placeOf(SEALED_COLUMNS.dkimPrivateKey, id);
      const sealedPrivateKey = this.options.secretBox.seal(privateKey, place);
      keys.push({
        id,
        algorithm,
        selector: dkimSelector(identityId, algorithm),
        publicKey,
        sealedPrivateKey,
      });
    }
    return keys;
  }
}
