export * from './api-key.ts';
export * from './fingerprint.ts';
