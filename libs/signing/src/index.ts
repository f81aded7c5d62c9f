export * from './api-key.ts';
export * from './fingerprint.ts';
export * from './key-ring.ts';
export { LinkSigner } from './link-signer.ts';
export * from './secret-box.ts';
export * from './dkim-keys.ts';
export { type DkimSigner, parseDkimKey, signEmail } from './dkim/sign-email.ts';
export * from './webhook-token.ts';
export * from './webhook-signature.ts';
