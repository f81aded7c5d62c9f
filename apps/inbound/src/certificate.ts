import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { CannotStart } from '@posthorn/kernel';
import type { InboundSettings } from '@posthorn/platform';
import type { Certificate } from '@posthorn/reports';

const RELOAD_EVERY_MS = 3_600_000;

/** The certificate named by the settings; undefined: none is set. @throws CannotStart when it cannot be read or used */
export async function loadCertificate(settings: InboundSettings): Promise<Certificate | undefined> {
  try {
    const certificate = await readCertificate(settings);
    if (certificate !== undefined) createSecureContext(certificate);
    return certificate;
  } catch (error) {
    throw new CannotStart(
      `The certificate for STARTTLS cannot be used: correct INBOUND_TLS_CERTIFICATE and INBOUND_TLS_KEY (${(error as Error).message})`,
    );
  }
}

async function readCertificate(settings: InboundSettings): Promise<Certificate | undefined> {
  const { INBOUND_TLS_CERTIFICATE: certificate, INBOUND_TLS_KEY: key } = settings;
  if (certificate === undefined || key === undefined) return undefined;
  const [cert, privateKey] = await Promise.all([readFile(certificate), readFile(key)]);
  return { cert, key: privateKey };
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
