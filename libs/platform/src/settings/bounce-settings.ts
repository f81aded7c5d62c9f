import { IsBoolean, IsOptional } from 'class-validator';
import { isDomainName } from './domain-name.ts';
import { HasForm } from './has-form.ts';
import { Setting } from './setting.ts';

/** Leaves room for the longest local part within the limit of an address (RFC 5321, section 4.5.3.1.3). */
const MAX_DOMAIN_CHARACTERS = 190;

/** The domain that receives bounces and reports. */
export class BounceSettings {
  @Setting(
    "The domain that bounces and other reports are returned to, at addresses `bounce+<token>@`, and at which recipients can unsubscribe by mail. Its MX record must point to `inbound`, and its SPF record must allow the relay. Unset: the return path of an email is its sender's address, and reports go there. `gateway`, `sender`, `dashboard` and `inbound` must have the same value.",
    { example: 'bounces.example.com' },
  )
  @IsOptional()
  @HasForm(
    'one domain in lower case, such as `bounces.example.com`; an internationalised one as punycode',
    (text) => isDomainName(text) && text.length <= MAX_DOMAIN_CHARACTERS,
  )
  BOUNCE_DOMAIN?: string;

  @Setting(
    'Whether relays that offer it (DSN, RFC 3461) are asked to report deliveries to `BOUNCE_DOMAIN`, and not only delays and failures. Emails then become `DELIVERED` if the receiving side reports it; each such report is a mail to `inbound`.',
  )
  @IsBoolean()
  BOUNCE_REPORT_DELIVERIES = false;
}
