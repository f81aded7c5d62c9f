import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { type AddressRange, HIGHEST_LIMITS } from '@posthorn/domain';
import { AreAddressRanges, addressRangesIn } from './address-ranges.ts';
import { Setting } from './setting.ts';

/** How often something may be asked of the gateway. */
export class RateSettings {
  @Setting(
    'How many requests a second each API key may make, unless its workspace has a number of its own; 0 means no limit.',
  )
  @IsInt()
  @Min(0)
  @Max(HIGHEST_LIMITS.ratePerSecond)
  RATE_LIMIT_PER_SECOND = 100;

  @Setting(
    'How many requests of an API key may come at once, unless its workspace has a number of its own; 0 means no limit.',
  )
  @IsInt()
  @Min(0)
  @Max(HIGHEST_LIMITS.rateBurst)
  RATE_LIMIT_BURST = 200;

  @Setting(
    'How many requests a minute from one address may lack a valid API key, after as many that may come at once; more are answered 429. Valid keys are never refused because of it; 0 means no limit.',
  )
  @IsInt()
  @Min(0)
  @Max(100_000)
  FAILED_AUTHENTICATIONS_PER_MINUTE = 20;

  @Setting(
    'The proxies in front whose `X-Forwarded-For` is believed, as addresses and ranges with commas between them.',
    { example: '10.0.0.0/8,fd00::/8' },
  )
  @IsOptional()
  @AreAddressRanges()
  TRUSTED_PROXIES?: string;

  /** As the auth room takes them. */
  get options(): {
    requestsPerSecond: number;
    burst: number;
    failuresPerMinute: number;
    trustedProxies: AddressRange[];
  } {
    return {
      requestsPerSecond: this.RATE_LIMIT_PER_SECOND,
      burst: this.RATE_LIMIT_BURST,
      failuresPerMinute: this.FAILED_AUTHENTICATIONS_PER_MINUTE,
      trustedProxies: addressRangesIn(this.TRUSTED_PROXIES),
    };
  }
}
