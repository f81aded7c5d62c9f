import { AcceptanceSettings } from './acceptance-settings.ts';
import { BounceSettings } from './bounce-settings.ts';
import { DatabaseSettings, HttpSettings, LogSettings, RedisSettings } from './connection-settings.ts';
import { DashboardSettings } from './dashboard-settings.ts';
import { DispatcherSettings } from './dispatcher-settings.ts';
import { DnsSettings } from './dns-settings.ts';
import { GatewaySettings } from './gateway-settings.ts';
import { InboundSettings } from './inbound-settings.ts';
import { LaneSettings } from './lane-settings.ts';
import { MessageSettings } from './message-settings.ts';
import { ProviderSettings } from './provider-settings.ts';
import { RateSettings } from './rate-settings.ts';
import type { Sections } from './read-settings.ts';
import { RelayTokenSettings } from './relay-token-settings.ts';
import { RetentionSettings } from './retention-settings.ts';
import { SecretSettings } from './secret-settings.ts';
import { SenderSettings } from './sender-settings.ts';
import { SystemMailSettings } from './system-mail-settings.ts';
import { TraceSettings } from './trace-settings.ts';
import { TrackingSettings } from './tracking-settings.ts';
import { WebhookSettings } from './webhook-settings.ts';

/** All sections, in the order of the documentation. */
export const ALL_SECTIONS = {
  http: HttpSettings,
  database: DatabaseSettings,
  redis: RedisSettings,
  log: LogSettings,
  traces: TraceSettings,
  secrets: SecretSettings,
  dns: DnsSettings,
  tracking: TrackingSettings,
  messages: MessageSettings,
  acceptance: AcceptanceSettings,
  gateway: GatewaySettings,
  systemMail: SystemMailSettings,
  webhooks: WebhookSettings,
  dispatcher: DispatcherSettings,
  rates: RateSettings,
  sender: SenderSettings,
  relayTokens: RelayTokenSettings,
  bounces: BounceSettings,
  inbound: InboundSettings,
  lanes: LaneSettings,
  retention: RetentionSettings,
  dashboard: DashboardSettings,
  provider: ProviderSettings,
} as const satisfies Sections;
