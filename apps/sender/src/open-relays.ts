import { systemAddresses } from '@posthorn/dns';
import { relayUp, type SenderSettings } from '@posthorn/platform';
import { RelayBreaker, RelayChain, type RelayEvent, RelayTransport, relayUrls } from '@posthorn/smtp';

/**
 * The relays of the settings, in order of preference, each with its own connections and its own breaker.
 *
 * @param onCrowded told when a relay takes no further connection beside others of ours
 */
export function openRelays(
  settings: SenderSettings,
  onRelay: (event: RelayEvent) => void,
  onCrowded: (relay: string, reason: string) => void,
): RelayChain {
  const relays = relayUrls(settings.SMTP_URL).map((url) => {
    const transport: RelayTransport = new RelayTransport(url, {
      maxConnections: settings.SMTP_CONNECTIONS,
      maxMessagesPerConnection: settings.SMTP_MESSAGES_PER_CONNECTION,
      connectionTimeoutMs: settings.SMTP_CONNECTION_TIMEOUT_MS,
      greetingTimeoutMs: settings.SMTP_GREETING_TIMEOUT_MS,
      commandTimeoutMs: settings.SMTP_COMMAND_TIMEOUT_MS,
      socketTimeoutMs: settings.SMTP_SOCKET_TIMEOUT_MS,
      tlsPolicy: settings.SMTP_TLS,
      ehloName: settings.SMTP_EHLO_NAME,
      lookUp: systemAddresses,
      onCrowded: (reason) => onCrowded(transport.name, reason),
    });
    relayUp.set({ relay: transport.name }, 1);
    return { name: transport.name, transport, breaker: new RelayBreaker() };
  });
  return new RelayChain(relays, onRelay);
}
