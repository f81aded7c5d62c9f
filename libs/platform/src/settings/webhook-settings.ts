import type { WebhookUrlPolicy } from '@posthorn/domain';
import { IsBoolean, IsOptional } from 'class-validator';
import { AreAddressRanges, addressRangesIn } from './address-ranges.ts';
import { Setting } from './setting.ts';

/** The permitted targets of webhooks. */
export class WebhookSettings {
  @Setting('Whether webhooks may use `http://` URLs. Only for development: events would travel unencrypted.')
  @IsBoolean()
  WEBHOOK_ALLOW_HTTP = false;

  @Setting(
    'The non-public networks that webhooks may reach, as addresses and ranges separated by commas. Callers can then send requests to any server there; link-local and metadata addresses stay blocked.',
    { example: '10.20.0.0/16,fd12:3456::/32', defaultText: 'none' },
  )
  @IsOptional()
  @AreAddressRanges()
  WEBHOOK_ALLOWED_NETWORKS?: string;

  /** The policy of the rules in `@posthorn/domain`. */
  get policy(): WebhookUrlPolicy {
    return {
      allowsHttp: this.WEBHOOK_ALLOW_HTTP,
      networks: addressRangesIn(this.WEBHOOK_ALLOWED_NETWORKS),
    };
  }
}
