import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A private key and its certificate, in PEM. */
export interface CertifiedKey {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  /** Such as `DNS:a.example` and `IP:127.0.0.1`. */
  readonly names: readonly string[];
  /** Whether its validity has ended. Default: no. */
  readonly hasExpired?: boolean;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const VALID = ['-days', '2'];
/** `openssl ca` takes both dates in every version; `x509` takes the first one since 3.4 only, and no longer takes negative days since then. */
const EXPIRED = ['-startdate', '20240101000000Z', '-enddate', '20240102000000Z'];
const CA_CONFIG = `
[ca]
default_ca = authority
[authority]
database = issued
new_certs_dir = .
default_md = sha256
rand_serial = yes
policy = any_name
[any_name]
commonName = supplied
`;

/** A certificate authority for tests, which issues valid and invalid server certificates with OpenSSL. */
export class TestAuthority {
  private constructor(
    private readonly directory: string,
    /** Its own root certificate, in PEM. */
    readonly certificate: string,
  ) {}

  static create(): TestAuthority {
    const directory = mkdtempSync(join(tmpdir(), 'posthorn-authority-'));
    const files = ['-keyout', 'ca.key', '-out', 'ca.crt'];
    openssl(directory, ['req', '-x509', ...NEW_KEY, '-subj', '/CN=Posthorn Test', ...VALID, ...files]);
    return new TestAuthority(directory, readFileSync(join(directory, 'ca.crt'), 'utf8'));
  }

  /** A certificate from this authority. */
  issue({ names, hasExpired = false }: CertificateOptions): CertifiedKey {
    const { directory } = this;
    writeFileSync(join(directory, 'names'), `subjectAltName=${names.join(',')}`);
    openssl(directory, ['req', ...NEW_KEY, '-subj', '/CN=receiver', '-keyout', 'one.key', '-out', 'one.csr']);
    const files = ['-in', 'one.csr', '-extfile', 'names', '-out', 'one.crt'];
    if (hasExpired) {
      writeFileSync(join(directory, 'ca.cnf'), CA_CONFIG);
      writeFileSync(join(directory, 'issued'), '');
      const by = ['-config', 'ca.cnf', '-cert', 'ca.crt', '-keyfile', 'ca.key'];
      openssl(directory, ['ca', '-batch', '-notext', ...by, ...EXPIRED, ...files]);
    } else {
      openssl(directory, ['x509', '-req', '-CA', 'ca.crt', '-CAkey', 'ca.key', ...VALID, ...files]);
    }
    return this.read();
  }

  selfSigned({ names }: CertificateOptions): CertifiedKey {
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
