import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { CannotStart } from '@posthorn/kernel';
import type { InboundSettings } from '@posthorn/platform';
import type { Certificate } from '@posthorn/reports';

const READ_EVERY_MS = 3_600_000;

/** The certificate of the settings to begin with; undefined: there is to be none. @throws CannotStart when it cannot be read or used */
export async function firstCertificate(settings: InboundSettings): Promise<Certificate | undefined> {
  try {
    const certificate = await readCertificate(settings);
    if (certificate !== undefined) createSecureContext({ ...certificate });
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

/** Certificates last for weeks, processes longer: reads it again every hour. What cannot be read or used leaves the one before. */
export function keepCertificateFresh(
  settings: InboundSettings,
  use: (certificate: Certificate) => void,
  onError: (error: unknown) => void,
): void {
  const renew = async (): Promise<void> => {
    const certificate = await readCertificate(settings);
    if (certificate !== undefined) use(certificate);
  };
  setInterval(() => void renew().catch(onError), READ_EVERY_MS).unref();
}
