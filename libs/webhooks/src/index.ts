export type { PostAnswer, PostRequest, PostResult } from './post-request.ts';
export type { LookUpAddresses } from './target.ts';
export { WebhookClient, type WebhookClientOptions } from './webhook-client.ts';
