import type { WebhookUrlPolicy } from '@posthorn/domain';
import { IsBoolean, IsOptional } from 'class-validator';
import { AreAddressRanges, addressRangesIn } from './address-ranges.ts';
import { Setting } from './setting.ts';

/** Where webhooks may lead. */
export class WebhookSettings {
  @Setting('Whether webhooks may lead to `http://` URLs: for development, events would travel unencrypted.')
  @IsBoolean()
  WEBHOOK_ALLOW_HTTP = false;

  @Setting(
    'The networks that webhooks may lead to although they are not public, as addresses and ranges with commas between them. Callers can then reach whatever listens there; link-local and metadata addresses stay closed.',
    { example: '10.20.0.0/16,fd12:3456::/32', defaultText: 'none' },
  )
  @IsOptional()
  @AreAddressRanges()
  WEBHOOK_ALLOWED_NETWORKS?: string;

  /** As the rules about URLs take it. */
  get policy(): WebhookUrlPolicy {
    return {
      allowsHttp: this.WEBHOOK_ALLOW_HTTP,
      networks: addressRangesIn(this.WEBHOOK_ALLOWED_NETWORKS),
    };
  }
}
