export { ALL_SECTIONS } from './sections.ts';
export * from './connection-settings.ts';
export { describeSettings, renderEnvExample, type SettingDescription } from './describe-settings.ts';
export { DashboardSettings } from './dashboard-settings.ts';
export { BounceSettings } from './bounce-settings.ts';
export { DispatcherSettings } from './dispatcher-settings.ts';
export { DnsSettings } from './dns-settings.ts';
export { loadEnvFile } from './env-file.ts';
export { AcceptanceSettings } from './acceptance-settings.ts';
export { GatewaySettings } from './gateway-settings.ts';
export { InboundSettings } from './inbound-settings.ts';
export { LaneSettings } from './lane-settings.ts';
export { ProviderSettings, type ProviderOptions } from './provider-settings.ts';
export { RateSettings } from './rate-settings.ts';
export {
  readSettings,
  SettingsError,
  type JudgesTogether,
  type Sections,
  type SettingsFor,
} from './read-settings.ts';
export { RetentionSettings } from './retention-settings.ts';
export { SecretSettings } from './secret-settings.ts';
export { SenderSettings } from './sender-settings.ts';
export { Setting, type SettingOptions, type SettingsClass } from './setting.ts';
export { SystemMailSettings } from './system-mail-settings.ts';
export { TraceSettings } from './trace-settings.ts';
export { TrackingSettings } from './tracking-settings.ts';
export { IsUrlWithScheme } from './url-with-scheme.ts';
export { WebhookSettings } from './webhook-settings.ts';
