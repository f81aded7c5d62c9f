import { FairConcurrencyLimit, type IdentityId, newUuid, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { dkimSelector } from '@posthorn/domain';
import { type NewDkimKey, sealContextOf, SEALED_COLUMNS } from '@posthorn/database';
import { type DkimAlgorithm, newDkimKeyPair, type SecretBox } from '@posthorn/signing';

const ALGORITHMS: readonly DkimAlgorithm[] = ['rsa', 'ed25519'];

/**
 * Generating an RSA key occupies a thread for some hundred milliseconds; whoever would wait for more than a few seconds should retry
 * instead. One workspace waits for its own keys only.
 */
const PAIRS = { maxConcurrent: 1, maxWaiting: 20, refusal: tooManyDkimKeys };

/** Too many callers are waiting for keys. */
export function tooManyDkimKeys(): Refusal {
  return new Refusal(503, 'Too many domains are being added at once; try again in a few seconds', {
    retryAfterSeconds: 5,
  });
}

interface DkimKeyMakerOptions {
  readonly secretBox: SecretBox;
  readonly clock: { nowMs(): number };
}

/** Generates the keys of domains, one pair at a time, so that adding many domains does not occupy all threads. */
export class DkimKeyMaker {
  private readonly pairs = new FairConcurrencyLimit<WorkspaceId>(PAIRS);

  constructor(private readonly options: DkimKeyMakerOptions) {}

  /**
   * Generates a key of each algorithm for a domain, encrypted.
   *
   * @param workspaceId whose domain it is
   * @param id what their selectors are derived from, see `dkimSelector`
   * @throws Refusal (503) when too many callers are waiting
   */
  make(workspaceId: WorkspaceId, id: IdentityId): Promise<NewDkimKey[]> {
    return this.pairs.run(workspaceId, () => this.makeNow(id));
  }

  private async makeNow(seed: IdentityId): Promise<NewDkimKey[]> {
    const keys: NewDkimKey[] = [];
    for (const algorithm of ALGORITHMS) {
      const { publicKey, privateKey } = await newDkimKeyPair(algorithm);
      const id = newUuid(this.options.clock.nowMs());
      const context = sealContextOf(SEALED_COLUMNS.dkimPrivateKey, id);
      const sealedPrivateKey = this.options.secretBox.seal(privateKey, context);
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
