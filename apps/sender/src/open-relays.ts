import { systemAddresses } from '@posthorn/dns';
import {
  type Logger,
  type RelayTokenSettings,
  relayUp,
  type SenderSettings,
  transmissionDuration,
} from '@posthorn/platform';
import type { RelayView } from '@posthorn/database';
import { AccessTokens, RelayBreaker, RelayChain, type RelayEvent, SmtpTransport } from '@posthorn/smtp';

/** Whether each relay accepts emails, and if not, why: for the metrics, the dashboard and the doctor. */
export class RelayStates {
  private readonly states = new Map<string, RelayView>();

  get all(): readonly RelayView[] {
    return [...this.states.values()];
  }

  note(state: RelayView): void {
    this.states.set(state.relay, state);
    relayUp.set({ relay: state.relay }, state.isUp ? 1 : 0);
  }
}

/**
 * Opens the configured relays, in order of preference, each with its own connections and circuit breaker. Their availability is logged and noted in `states`; the durations of
 * transmissions are exported as a metric.
 */
export function openRelays(
  settings: SenderSettings,
  { options: tokens }: RelayTokenSettings,
  logger: Logger,
  states: RelayStates,
): RelayChain {
  const accessTokens =
    tokens &&
    new AccessTokens(tokens, (reason, secondsLeft) =>
      logger.warn(
        { reason, secondsLeft },
        'the access token for the relays cannot be renewed; when it expires, nothing can be sent',
      ),
    );
  const relays = settings.relayUrls.map((url) => {
    const transport: SmtpTransport = new SmtpTransport(url, {
      maxConnections: settings.SMTP_CONNECTIONS,
      maxMessagesPerConnection: settings.SMTP_MESSAGES_PER_CONNECTION,
      connectionTimeoutMs: settings.SMTP_CONNECTION_TIMEOUT_MS,
      greetingTimeoutMs: settings.SMTP_GREETING_TIMEOUT_MS,
      commandTimeoutMs: settings.SMTP_COMMAND_TIMEOUT_MS,
      socketTimeoutMs: settings.SMTP_SOCKET_TIMEOUT_MS,
      tlsPolicy: settings.SMTP_TLS,
      ehloName: settings.SMTP_EHLO_NAME,
      accessTokens,
      lookUp: systemAddresses,
      onCrowded: (reason) =>
        logger.warn(
          { relay: transport.name, reason },
          'the relay accepts fewer connections than SMTP_CONNECTIONS: lower it',
        ),
    });
    states.note({ relay: transport.name, isUp: true });
    return { transport, breaker: new RelayBreaker() };
  });
  return new RelayChain(
    relays,
    (event) => {
      const { relay, isAvailable, isOurs = false, reason } = event;
      states.note(isAvailable || isOurs ? { relay, isUp: true } : { relay, isUp: false, reason });
      logRelay(event, relays.length > 1, logger);
    },
    (relay, durationMs) => transmissionDuration.observe({ relay }, durationMs / 1_000),
  );
}

function logRelay(
  { relay, isAvailable, reason, isOurs = false }: RelayEvent,
  hasOthers: boolean,
  logger: Logger,
): void {
  const what = hasOthers ? 'leave through another one, or wait' : 'wait';
  if (isAvailable) logger.info({ relay }, 'the relay accepts emails again');
  else if (isOurs)
    logger.error({ relay, reason }, 'ALARM: this machine lacks the resources for a connection; emails wait');
  else logger.error({ relay, reason }, `ALARM: the relay refuses us or cannot be reached; emails ${what}`);
}
