import { IsOptional } from 'class-validator';
import { MAX_LIMIT_OVERRIDES } from '@posthorn/domain';
import { AreAddressRanges, addressRangesIn } from './address-ranges.ts';
import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';

/** The rate limits of the gateway. */
export class RateSettings {
  @Setting(
    'How many requests a second each API key may make, unless its workspace has its own limit; 0 means no limit.',
  )
  @IsWholeNumber(0, MAX_LIMIT_OVERRIDES.ratePerSecond)
  RATE_LIMIT_PER_SECOND = 100;

  @Setting(
    'How many requests an API key may make in one burst, unless its workspace has its own limit; 0 means no limit.',
  )
  @IsWholeNumber(0, MAX_LIMIT_OVERRIDES.rateBurst)
  RATE_LIMIT_BURST = 200;

  @Setting(
    'How many requests a minute without a valid API key one address may make, after a first burst of as many; further ones are answered 429. Requests with a valid key are never refused because of this; 0 means no limit.',
  )
  @IsWholeNumber(0, 100_000)
  FAILED_AUTHENTICATIONS_PER_MINUTE = 20;

  @Setting(
    'The proxies in front of the app whose `X-Forwarded-For` is trusted, as addresses and ranges separated by commas.',
    { example: '10.0.0.0/8,fd00::/8' },
  )
  @IsOptional()
  @AreAddressRanges()
  TRUSTED_PROXIES?: string;

  /** The options of `@posthorn/auth`. */
  get options() {
    return {
      requestsPerSecond: this.RATE_LIMIT_PER_SECOND,
      burst: this.RATE_LIMIT_BURST,
      failuresPerMinute: this.FAILED_AUTHENTICATIONS_PER_MINUTE,
      trustedProxies: addressRangesIn(this.TRUSTED_PROXIES),
    };
  }
}
