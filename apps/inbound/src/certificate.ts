import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { CannotStart } from '@posthorn/kernel';
import type { InboundSettings } from '@posthorn/platform';
import type { Certificate } from '@posthorn/reports';

const RELOAD_EVERY_MS = 3_600_000;

/** The certificate named by the settings; undefined: none is set. @throws CannotStart when it cannot be read or used */
export async function loadCertificate(settings: InboundSettings): Promise<Certificate | undefined> {
  const { INBOUND_TLS_CERTIFICATE: certFile, INBOUND_TLS_KEY: keyFile } = settings;
  if (certFile === undefined || keyFile === undefined) return undefined;
  try {
    const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    throw new CannotStart(
      `The certificate for STARTTLS cannot be used: correct INBOUND_TLS_CERTIFICATE and INBOUND_TLS_KEY (${(error as Error).message})`,
    );
  }
}

/** Reads the certificate again every hour, since processes outlive certificates. One that cannot be read or used does not replace the current one. */
export function reloadCertificateHourly(
  settings: InboundSettings,
  use: (certificate: Certificate) => void,
  onError: (error: unknown) => void,
): void {
  const renew = async (): Promise<void> => {
    const certificate = await loadCertificate(settings);
    if (certificate !== undefined) use(certificate);
  };
  setInterval(() => void renew().catch(onError), RELOAD_EVERY_MS).unref();
}
