import { IsBoolean, IsOptional } from 'class-validator';
import { IsDomainName } from './domain-text.ts';
import { Setting } from './setting.ts';

/** Where mail about emails comes back to. */
export class BounceSettings {
  @Setting(
    'The domain that bounces and other reports come back to, as mail to `bounce+<token>@` it. Its MX record leads to `inbound`, and its SPF record lets the relay send. Unset: emails leave with the address of their sender, and what comes back goes there.',
    { example: 'bounces.example.com' },
  )
  @IsOptional()
  @IsDomainName()
  BOUNCE_DOMAIN?: string;

  @Setting(
    'Whether relays that offer it (DSN, RFC 3461) are asked to report deliveries to `BOUNCE_DOMAIN` as well, and not only delays and failures: emails then become `DELIVERED` where the receiving side tells, at the price of a mail that comes back for each.',
  )
  @IsBoolean()
  BOUNCE_REPORT_DELIVERIES = false;
}
