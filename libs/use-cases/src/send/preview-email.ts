import { hash } from 'node:crypto';
import { type EmailId, FairConcurrencyLimit, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type { ComposableEmail, EmailStore } from '@posthorn/database';
import { ERASED } from '@posthorn/domain';
import { RenderingFailed, UncomposableMessage } from '@posthorn/rendering';
import { type ComposeEmail, UnsignableEmail } from './compose-email.ts';
import type { FinalContent } from './final-content.ts';

/** Few at once, because each can take several times the memory of the largest email. One workspace waits for its own previews only. */
const PREVIEWS = { maxConcurrent: 2, maxWaiting: 25, refusal: busy };

interface PreviewEmailOptions {
  readonly emails: Pick<EmailStore, 'findComposable' | 'find'>;
  readonly composer: Pick<ComposeEmail, 'composeWithSource'>;
}

/** The message of an email as it will be, or was, sent. */
export interface EmailPreview extends FinalContent {
  /** The whole message (RFC 5322). It is valid UTF-8, so nothing is lost by representing it as a string. */
  readonly message: string;
  readonly bytes: number;
  /** SHA-256 of the message in lower-case hex, as in the timeline. */
  readonly sha256: string;
}

/** Previews an email's message, composed exactly as the sender composes it. */
export class PreviewEmail {
  private readonly previews = new FairConcurrencyLimit<WorkspaceId>(PREVIEWS);

  constructor(private readonly options: PreviewEmailOptions) {}

  /**
   * The message of the email, byte for byte.
   *
   * @param gone is aborted when the caller has gone: a preview that would have to wait is refused then
   * @returns undefined when the workspace has no email with this id
   * @throws Refusal 409 when it cannot be composed, or its content is no longer kept; 503 when it cannot be composed now
   */
  preview(workspaceId: WorkspaceId, id: EmailId, gone?: AbortSignal): Promise<EmailPreview | undefined> {
    return this.previews.run(workspaceId, () => this.make(workspaceId, id), gone);
  }

  private async make(workspaceId: WorkspaceId, id: EmailId): Promise<EmailPreview | undefined> {
    const email = await this.options.emails.findComposable(workspaceId, id);
    if (email === undefined) return this.withoutContent(workspaceId, id);
    try {
      return await this.composeOrFail(email);
    } catch (error) {
      throw refusalOf(error, email);
    }
  }

  /** Either there is no such email, or its content has been removed. */
  private async withoutContent(workspaceId: WorkspaceId, id: EmailId): Promise<undefined> {
    if ((await this.options.emails.find(workspaceId, id)) === undefined) return undefined;
    throw contentRemoved();
  }

  private async composeOrFail(email: ComposableEmail): Promise<EmailPreview> {
    const { source, message } = await this.options.composer.composeWithSource(email);
    const { subject, html, text } = source;
    const sha256 = hash('sha256', message);
    return { subject, html, text, message: message.toString('utf8'), bytes: message.length, sha256 };
  }
}

function busy(): Refusal {
  return new Refusal(503, 'Too many previews are being made; try again in a moment', {
    retryAfterSeconds: 2,
  });
}

function notNow(reason: string): Refusal {
  return new Refusal(
    503,
    `No message could be made of the email: ${reason}; try again in a moment, and send shorter or simpler HTML if that does not help`,
    { retryAfterSeconds: 2 },
  );
}

/** What the sender would retry is answered with a 503 here. */
function refusalOf(error: unknown, email: ComposableEmail): unknown {
  if (error instanceof UncomposableMessage) return refusalOfErased(email) ?? uncomposable(error.message);
  if (error instanceof UnsignableEmail) return unsignable();
  if (!(error instanceof RenderingFailed)) return error;
  if (error.isLasting) return uncomposable(error.message);
  return error.reason === 'busy' ? busy() : notNow(error.message);
}

/** The refusal of an email whose replies would go to somebody who was erased; undefined for any other. */
export function refusalOfErased({ replyTo }: ComposableEmail): Refusal | undefined {
  if (!replyTo.some(({ address }) => address === ERASED)) return undefined;
  return new Refusal(
    409,
    'The email named a person whose address was erased, so its message cannot be made any more; its status and timeline are still there',
  );
}

/** The email itself is kept longer than its content. */
export function contentRemoved(): Refusal {
  return new Refusal(
    409,
    'The content of the email is past the time for which it is kept, and was removed; its status and timeline are still there',
  );
}

/** Which key is missing concerns only the operator, who finds it in the sender's log. */
export function unsignable(): Refusal {
  return new Refusal(
    503,
    'The email cannot be signed right now, because a key of its domain cannot be decrypted; tell the operator, and try again later',
    { retryAfterSeconds: 60 },
  );
}

/** The email cannot be composed, now or later. */
export function uncomposable(reason: string): Refusal {
  return new Refusal(409, `No message can be made of the email: ${reason}; send another one`);
}
