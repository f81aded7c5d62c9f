import { ConcurrencyLimit, type IdentityId, newUuid, Refusal } from '@posthorn/kernel';
import { dkimSelector } from '@posthorn/domain';
import { type NewDkimKey, placeOf, SEALED_COLUMNS } from '@posthorn/database';
import { type DkimAlgorithm, newDkimKeyPair, type SecretBox } from '@posthorn/signing';

const ALGORITHMS: readonly DkimAlgorithm[] = ['rsa', 'ed25519'];

/** An RSA key takes a thread for some hundred milliseconds; what waits longer than a few seconds had better come again. */
const PAIRS = { maxConcurrent: 1, maxWaiting: 20, refusal: tooManyDkimKeys };

/** Too many wait for their keys. */
export function tooManyDkimKeys(): Refusal {
  return new Refusal(503, 'Too many domains are being added at once; try again in some seconds', {
    retryAfterSeconds: 5,
  });
}

interface DkimKeyMakerOptions {
  readonly secretBox: SecretBox;
  readonly clock: { nowMs(): number };
}

/** Makes the keys of domains, one pair after the other, so that whoever adds many takes the threads of nobody. */
export class DkimKeyMaker {
  private readonly pairs = new ConcurrencyLimit(PAIRS);

  constructor(private readonly options: DkimKeyMakerOptions) {}

  /**
   * A key of each algorithm for a domain, sealed.
   *
   * @param id what their selectors are made of, see `dkimSelector`
   * @throws Refusal (503) when too many wait for theirs
   */
  make(id: IdentityId): Promise<NewDkimKey[]> {
    return this.pairs.run(() => this.makeNow(id));
  }

  private async makeNow(seed: IdentityId): Promise<NewDkimKey[]> {
    const keys: NewDkimKey[] = [];
    for (const algorithm of ALGORITHMS) {
      const { publicKey, privateKey } = await newDkimKeyPair(algorithm);
      const id = newUuid(this.options.clock.nowMs());
      const place = placeOf(SEALED_COLUMNS.dkimPrivateKey, id);
      const sealedPrivateKey = this.options.secretBox.seal(privateKey, place);
      keys.push({
        id,
        algorithm,
        selector: dkimSelector(seed, algorithm),
        publicKey,
        stage: 'CURRENT',
        sealedPrivateKey,
      });
    }
    return keys;
  }
}
