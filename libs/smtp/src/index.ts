export * from './access-tokens.ts';
export * from './relays/describe-transmission.ts';
export * from './relays/pace.ts';
export * from './relays/relay-breaker.ts';
export * from './relays/relay-chain.ts';
export * from './relays/smtp-envelope.ts';
export * from './smtp-transport.ts';
