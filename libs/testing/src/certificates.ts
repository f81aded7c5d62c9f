import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A key and its certificate, in PEM. */
export interface CertifiedKey {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateFacts {
  /** Such as `DNS:a.example` and `IP:127.0.0.1`. */
  readonly names: readonly string[];
  /** Whether it was valid once. */
  readonly hasExpired?: boolean;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const VALID = ['-days', '2'];
/** OpenSSL 3.0 cannot be told when a certificate begins; so this one ended before it did. */
const EXPIRED = ['-days', '-1'];

/** Makes certificates as receivers have them, good and bad, with OpenSSL. */
export class TestAuthority {
  private constructor(
    private readonly directory: string,
    /** Its own certificate: who trusts it trusts what it has issued. */
    readonly certificate: string,
  ) {}

  static create(): TestAuthority {
    const directory = mkdtempSync(join(tmpdir(), 'posthorn-authority-'));
    const files = ['-keyout', 'ca.key', '-out', 'ca.crt'];
    openssl(directory, ['req', '-x509', ...NEW_KEY, '-subj', '/CN=Posthorn Test', ...VALID, ...files]);
    return new TestAuthority(directory, readFileSync(join(directory, 'ca.crt'), 'utf8'));
  }

  /** A certificate from this authority. */
  issue({ names, hasExpired = false }: CertificateFacts): CertifiedKey {
    const { directory } = this;
    writeFileSync(join(directory, 'names'), `subjectAltName=${names.join(',')}`);
    openssl(directory, ['req', ...NEW_KEY, '-subj', '/CN=receiver', '-keyout', 'one.key', '-out', 'one.csr']);
    const by = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-extfile', 'names'];
    const days = hasExpired ? EXPIRED : VALID;
    openssl(directory, ['x509', '-req', '-in', 'one.csr', ...by, ...days, '-out', 'one.crt']);
    return this.read();
  }

  /** A certificate that vouches for itself alone. */
  selfSigned({ names }: CertificateFacts): CertifiedKey {
    const extension = ['-addext', `subjectAltName=${names.join(',')}`];
    const files = ['-keyout', 'one.key', '-out', 'one.crt'];
    openssl(this.directory, [
      'req',
      '-x509',
      ...NEW_KEY,
      '-subj',
      '/CN=self',
      ...extension,
      ...VALID,
      ...files,
    ]);
    return this.read();
  }

  close(): void {
    rmSync(this.directory, { recursive: true });
  }

  private read(): CertifiedKey {
    const [key, cert] = ['one.key', 'one.crt'].map((name) =>
      readFileSync(join(this.directory, name), 'utf8'),
    );
    return { key: key!, cert: cert! };
  }
}

function openssl(cwd: string, args: string[]): void {
  execFileSync('openssl', args, { cwd, stdio: 'pipe' });
}
