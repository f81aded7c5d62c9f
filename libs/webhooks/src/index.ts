export type { PostRequest, PostResult } from './post-request.ts';
export { WebhookClient } from './webhook-client.ts';
