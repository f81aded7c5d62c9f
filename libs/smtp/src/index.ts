export * from './relay-breaker.ts';
export * from './relay-transport.ts';
export { parseRelayUrl, type RelayAddress } from './relay-url.ts';
export * from './smtp-transport.ts';
