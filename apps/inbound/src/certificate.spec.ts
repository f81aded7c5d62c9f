import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InboundSettings } from '@posthorn/platform';
import { reloadCertificateHourly } from './certificate.ts';

const HOUR_MS = 3_600_000;

describe('A certificate that is read again', () => {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-certificate-'));

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  afterAll(() => rmSync(directory, { recursive: true }));

  it('and cannot be used: the report says which settings to correct', async () => {
    const file = join(directory, 'none.pem');
    writeFileSync(file, 'none');
    const settings = Object.assign(new InboundSettings(), {
      INBOUND_TLS_CERTIFICATE: file,
      INBOUND_TLS_KEY: file,
    });
    const { promise: report, resolve: onError } = Promise.withResolvers<unknown>();
    reloadCertificateHourly(settings, () => onError('it was used'), onError);
    jest.advanceTimersByTime(HOUR_MS);
    expect(await report).toMatchObject({
      message: expect.stringMatching(/correct INBOUND_TLS_CERTIFICATE and INBOUND_TLS_KEY \(.*no start line/),
    });
  });
});
