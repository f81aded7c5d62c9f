import {
  type DatabaseClock,
  newId,
  Refusal,
  uuidOf,
  type WebhookId,
  type WorkspaceId,
} from '@posthorn/kernel';
import {
  type Actor,
  type EventName,
  faultInWebhookHost,
  type Webhook,
  type WebhookStatus,
  type WebhookUrlPolicy,
  WORKSPACE_LIMITS,
} from '@posthorn/domain';
import {
  placeOf,
  SEALED_COLUMNS,
  type SealedWebhook,
  type WebhookChange,
  type WebhookStore,
} from '@posthorn/database';
import { newWebhookToken, type SecretBox, SecretNotOpened } from '@posthorn/signing';
import { orUnavailable } from '../accept/refusals.ts';

export interface ManageWebhooksOptions {
  readonly webhooks: WebhookStore;
  readonly clock: Pick<DatabaseClock, 'nowMs'>;
  /** What keeps tokens at rest. */
  readonly box: SecretBox;
  /** Where webhooks may lead. */
  readonly policy: WebhookUrlPolicy;
}

/** A webhook as a caller may see it, with the token that deliveries are signed with. */
export interface WebhookWithToken extends Webhook {
  readonly token: string;
}

/** What a caller wants of a webhook; its form is judged. */
export interface WantedWebhook {
  readonly url: string;
  readonly events: readonly EventName[];
  /** Absent: one is made. */
  readonly token?: string | undefined;
}

/** What a caller wants to be another; what is absent stays. */
export interface WantedWebhookChange {
  readonly url?: string | undefined;
  readonly events?: readonly EventName[] | undefined;
  readonly token?: string | undefined;
  readonly status?: WebhookStatus | undefined;
}

/** The webhooks of a workspace, as its keys manage them. An id that the workspace does not have gives undefined. */
export class ManageWebhooks {
  constructor(private readonly options: ManageWebhooksOptions) {}

  list(workspaceId: WorkspaceId): Promise<Webhook[]> {
    return orUnavailable(this.options.webhooks.list(workspaceId));
  }

  async read(workspaceId: WorkspaceId, id: WebhookId): Promise<WebhookWithToken | undefined> {
    const found = await orUnavailable(this.options.webhooks.find(workspaceId, id));
    return found && this.withToken(found);
  }

  /** @throws Refusal 400 for a URL that leads where it may not, 409 when the workspace has as many webhooks as it may */
  async create(
    workspaceId: WorkspaceId,
    actor: Actor,
    { url, events, token = newWebhookToken() }: WantedWebhook,
  ): Promise<WebhookWithToken> {
    this.judgeHost(url);
    const id = newId('wh', this.options.clock.nowMs());
    const wanted = { id, url, events: [...new Set(events)], sealedToken: this.seal(id, token) };
    const created = await orUnavailable(this.options.webhooks.create(workspaceId, actor, wanted));
    if (created === undefined) throw tooManyWebhooks();
    return { ...created, token };
  }

  /** @throws Refusal 400 for a URL that leads where it may not */
  async update(
    workspaceId: WorkspaceId,
    id: WebhookId,
    actor: Actor,
    wanted: WantedWebhookChange,
  ): Promise<WebhookWithToken | undefined> {
    if (wanted.url !== undefined) this.judgeHost(wanted.url);
    const { webhooks } = this.options;
    const changed = await orUnavailable(
      webhooks.change(workspaceId, id, actor, (before) => this.changeOf(before, wanted)),
    );
    return changed && this.withToken(changed);
  }

  delete(workspaceId: WorkspaceId, id: WebhookId, actor: Actor): Promise<WebhookWithToken | undefined> {
    const { webhooks } = this.options;
    return orUnavailable(webhooks.delete(workspaceId, id, actor, (webhook) => this.withToken(webhook)));
  }

  private judgeHost(url: string): void {
    const fault = faultInWebhookHost(url, this.options.policy);
    if (fault !== undefined) throw new Refusal(400, `\`url\` ${fault}`);
  }

  /** What really differs: a change to what is there already is none. */
  private changeOf(
    before: SealedWebhook,
    { url, events, token, status }: WantedWebhookChange,
  ): WebhookChange {
    const folded = events && [...new Set(events)];
    return {
      ...(url !== undefined && url !== before.url && { url }),
      ...(folded !== undefined && !areSame(folded, before.events) && { events: folded }),
      ...(status !== undefined && status !== before.status && { status }),
      ...(token !== undefined && this.tokenChange(before, token)),
    };
  }

  /** The token before is kept for a time, so that a receiver can be changed after it. */
  private tokenChange(before: SealedWebhook, token: string): WebhookChange {
    const previous = this.tokenOf(before);
    if (previous === token) return {};
    const place = placeOf(SEALED_COLUMNS.webhookPreviousToken, uuidOf(before.id));
    return {
      sealedToken: this.seal(before.id, token),
      sealedPreviousToken: previous === undefined ? null : this.options.box.seal(previous, place),
    };
  }

  /** Undefined: its key was lost. It is replaced like any other: that is how it is mended. */
  private tokenOf(webhook: SealedWebhook): string | undefined {
    try {
      return this.withToken(webhook).token;
    } catch (error) {
      if (error instanceof SecretNotOpened) return undefined;
      throw error;
    }
  }

  private seal(id: WebhookId, token: string): Buffer {
    return this.options.box.seal(token, placeOf(SEALED_COLUMNS.webhookToken, uuidOf(id)));
  }

  private withToken({ sealedToken, ...webhook }: SealedWebhook): WebhookWithToken {
    const place = placeOf(SEALED_COLUMNS.webhookToken, uuidOf(webhook.id));
    return { ...webhook, token: this.options.box.open(sealedToken, place).toString('utf8') };
  }
}

function areSame(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}

function tooManyWebhooks(): Refusal {
  const most = WORKSPACE_LIMITS.webhooks;
  return new Refusal(409, `The workspace has ${most} webhooks, which is as many as it may; delete one first`);
}
