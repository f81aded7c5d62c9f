export * from './access-tokens.ts';
export * from './describe-transmission.ts';
export * from './pace.ts';
export * from './relay-breaker.ts';
export * from './relay-chain.ts';
export * from './relay-transport.ts';
export * from './smtp-envelope.ts';
