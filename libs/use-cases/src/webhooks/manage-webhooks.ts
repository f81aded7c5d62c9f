import { type DatabaseClock, newId, Refusal, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  type EventName,
  faultInWebhookHost,
  type Webhook,
  type WebhookStatus,
  type WebhookUrlPolicy,
  WORKSPACE_LIMITS,
} from '@posthorn/domain';
import type { SealedWebhook, WebhookChange, WebhookStore } from '@posthorn/database';
import { newWebhookToken, type SecretBox } from '@posthorn/signing';
import { WebhookTokens } from './webhook-tokens.ts';

interface ManageWebhooksOptions {
  readonly webhooks: WebhookStore;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  /** Encrypts tokens at rest. */
  readonly box: SecretBox;
  /** Which URLs are allowed for webhooks. */
  readonly policy: WebhookUrlPolicy;
}

/** A webhook as shown to callers, with the token that deliveries are signed with. */
export interface WebhookWithToken extends Webhook {
  /** Null when its encryption key was lost: nothing can be signed until the webhook is given another one. */
  readonly token: string | null;
  /** Until when deliveries are also signed with the previous token; null: they are not. */
  readonly previousTokenUntil: Date | null;
}

/** A webhook to be created; already validated. */
interface WantedWebhook {
  readonly url: string;
  readonly events: readonly EventName[];
  /** Absent: one is generated. */
  readonly token?: string | undefined;
  readonly status: WebhookStatus;
}

/** A change of a webhook; absent fields are kept. */
interface WantedWebhookChange {
  readonly url?: string | undefined;
  readonly events?: readonly EventName[] | undefined;
  readonly token?: string | undefined;
  readonly status?: WebhookStatus | undefined;
}

/** A token rotation; already validated. */
interface WantedRotation {
  /** Absent: one is generated. */
  readonly token?: string | undefined;
  /** How long deliveries are also signed with the previous token; see TOKEN_OVERLAP_SECONDS. */
  readonly overlapSeconds?: number | undefined;
}

/** Manages the webhooks of a workspace for its API keys. For an id that the workspace does not have, methods return undefined. */
export class ManageWebhooks {
  private readonly tokens: WebhookTokens;

  constructor(private readonly options: ManageWebhooksOptions) {
    this.tokens = new WebhookTokens(options.box);
  }

  list(workspaceId: WorkspaceId): Promise<Webhook[]> {
    return this.options.webhooks.list(workspaceId);
  }

  async read(workspaceId: WorkspaceId, id: WebhookId): Promise<WebhookWithToken | undefined> {
    const found = await this.options.webhooks.find(workspaceId, id);
    return found && this.withToken(found);
  }

  /** @throws Refusal 400 for a URL that is not allowed, 409 when the workspace has the maximum of webhooks */
  async create(
    workspaceId: WorkspaceId,
    actor: Actor,
    { url, events, token = newWebhookToken(), status }: WantedWebhook,
  ): Promise<WebhookWithToken> {
    validateWebhookHost(url, this.options.policy);
    const id = newId('wh', this.options.clock.nowMs());
    const sealedToken = this.tokens.seal(id, token);
    const wanted = { id, url, events: [...new Set(events)], sealedToken, status };
    const created = await this.options.webhooks.create(workspaceId, actor, wanted);
    if (created === undefined) throw tooManyWebhooks();
    return { ...created, token, previousTokenUntil: null };
  }

  /** @throws Refusal 400 for a URL that is not allowed */
  async update(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: WebhookId,
    wanted: WantedWebhookChange,
  ): Promise<WebhookWithToken | undefined> {
    if (wanted.url !== undefined) validateWebhookHost(wanted.url, this.options.policy);
    const { webhooks } = this.options;
    const changed = await webhooks.change(workspaceId, actor, id, (before) => this.changeOf(before, wanted));
    return changed && this.withToken(changed);
  }

  /** Gives a webhook another token; the previous one keeps signing for a time. */
  async rotateToken(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: WebhookId,
    { token = newWebhookToken(), overlapSeconds }: WantedRotation,
  ): Promise<WebhookWithToken | undefined> {
    const { webhooks } = this.options;
    const changed = await webhooks.change(workspaceId, actor, id, (before) =>
      this.tokens.change(before, token, overlapSeconds),
    );
    return changed && this.withToken(changed);
  }

  async delete(workspaceId: WorkspaceId, actor: Actor, id: WebhookId): Promise<WebhookWithToken | undefined> {
    const deleted = await this.options.webhooks.delete(workspaceId, actor, id);
    return deleted && this.withToken(deleted);
  }

  /** Reduces a change to what really differs from the current values. */
  private changeOf(
    before: SealedWebhook,
    { url, events, token, status }: WantedWebhookChange,
  ): WebhookChange {
    const folded = events && [...new Set(events)];
    return {
      ...(url !== undefined && url !== before.url && { url }),
      ...(folded !== undefined && !areSame(folded, before.events) && { events: folded }),
      ...(status !== undefined && status !== before.status && { status }),
      ...(token !== undefined && this.tokens.change(before, token)),
    };
  }

  private withToken({ sealedToken, ...webhook }: SealedWebhook): WebhookWithToken {
    return { ...webhook, token: this.tokens.openIfPossible({ id: webhook.id, sealedToken }) ?? null };
  }
}

function areSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

/** @throws Refusal (400) for a URL that is not allowed for webhooks */
export function validateWebhookHost(url: string, policy: WebhookUrlPolicy): void {
  const fault = faultInWebhookHost(url, policy);
  if (fault !== undefined) throw new Refusal(400, `\`url\` ${fault}`);
}

/** The workspace has the maximum of webhooks. */
export function tooManyWebhooks(): Refusal {
  const max = WORKSPACE_LIMITS.webhooks;
  return new Refusal(409, `The workspace has ${max} webhooks, the maximum; delete one first`);
}
