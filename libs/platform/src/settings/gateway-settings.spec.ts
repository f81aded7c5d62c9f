import { expect, it } from '@jest/globals';
import { SIZES } from '@posthorn/domain';
import { GatewaySettings } from './gateway-settings.ts';
import { readSettings, SettingsError } from './read-settings.ts';

it('G11: a gateway with a lower limit of bytes in flight than the largest batch has does not start', () => {
  const MAX_BYTES_IN_FLIGHT = String(SIZES.batchBody.max - 1);
  expect(() => readSettings({ gateway: GatewaySettings }, { MAX_BYTES_IN_FLIGHT })).toThrow(SettingsError);
});
