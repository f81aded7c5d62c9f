import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WorkspaceId } from '@posthorn/kernel';
import type { ComposableEmail, TemplatedContent } from '@posthorn/database';
import { domainOf, type JsonObject, parseJson } from '@posthorn/domain';
import {
  composeMessage,
  type HtmlToText,
  type MessageSource,
  type RenderedTemplate,
  type TemplateRenderer,
} from '@posthorn/rendering';
import { signEmail } from '@posthorn/signing';
import { finalContent } from './final-content.ts';
import type { TrackHtml } from '../tracking/track-html.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { UnsubscribeLinks } from '../unsubscribe/unsubscribe-links.ts';
import { insertUnsubscribeUrl, withUnsubscribeUrl } from '../unsubscribe/unsubscribe-variable.ts';
import type { TemplateVersions } from './template-versions.ts';

interface ComposeEmailOptions {
  readonly htmlToText: Pick<HtmlToText, 'convert'>;
  readonly versions: Pick<TemplateVersions, 'find'>;
  readonly renderer: Pick<TemplateRenderer, 'render'>;
  readonly signingKeys: Pick<SigningKeys, 'find'>;
  readonly unsubscribeLinks: Pick<UnsubscribeLinks, 'urlOf'>;
  readonly tracking: Pick<TrackHtml, 'track'>;
}

/** How a message is composed. */
interface ComposeOptions {
  /** Whether to sign with fewer keys, or none, when some cannot be decrypted. */
  readonly mayLackSignature?: boolean;
}

/** Composing and hashing a message of more than this blocks the event loop for milliseconds. */
const LARGE_CHARACTERS = 256 * 1024;

/** A DKIM key for signing an email cannot be decrypted. */
export class UnsignableEmail extends Error {
  constructor(domain: string, cause: Error) {
    super(`Emails of ${domain} cannot be signed: ${cause.message}`, { cause });
    this.name = 'UnsignableEmail';
  }
}

/** Composes the message of an email. The same email gives the same bytes at every attempt and in every preview. */
export class ComposeEmail {
  private previousLarge: Promise<void> = Promise.resolve();

  constructor(private readonly options: ComposeEmailOptions) {}

  /**
   * The message, byte for byte as it is sent.
   *
   * @throws RenderingFailed when the template cannot be rendered, or the HTML cannot be converted to text in time
   * @throws UncomposableMessage when a header value could inject another header
   * @throws UnsignableEmail when a key of its domain cannot be decrypted
   */
  async compose(email: ComposableEmail, options: ComposeOptions = {}): Promise<Buffer> {
    return (await this.composeWithSource(email, options)).message;
  }

  /** The same message, with the source that it was composed from. @throws as {@link compose} */
  async composeWithSource(
    email: ComposableEmail,
    { mayLackSignature = false }: ComposeOptions = {},
  ): Promise<{ source: MessageSource; message: Buffer }> {
    const domain = domainOf(email.from.address);
    const { workspaceId, fellDueAt } = email;
    const [source, keys] = await Promise.all([
      this.sourceOf(email),
      this.options.signingKeys.find({ workspaceId, domain }),
    ]);
    if (keys.fault !== undefined && !mayLackSignature) throw new UnsignableEmail(domain, keys.fault);
    if (charactersIn(source) > LARGE_CHARACTERS) await this.waitForLargeTurn();
    return { source, message: await signEmail(composeMessage(source), keys.signers, fellDueAt) };
  }

  /** `Required`, so that the compiler finds a field that would be forgotten. */
  private async sourceOf(email: ComposableEmail): Promise<Required<MessageSource>> {
    const { id, workspaceId, messageId, fellDueAt, from, to, replyTo, unsubscribe, content, attachments } =
      email;
    const unsubscribeUrl = unsubscribe ? this.options.unsubscribeLinks.urlOf(id) : undefined;
    const given =
      content.type === 'raw'
        ? insertUnsubscribeUrl(content, unsubscribeUrl)
        : await this.renderTemplate(workspaceId, content, unsubscribeUrl);
    const untracked = await finalContent(this.options.htmlToText, workspaceId, given);
    // After the plain text was generated, which keeps the original links.
    const html = await this.options.tracking.track(email, untracked.html);
    const date = fellDueAt;
    return { id, messageId, date, from, to, replyTo, unsubscribeUrl, ...untracked, html, attachments };
  }

  /** Lets large messages be composed one per turn of the event loop, although several may have been rendered together. */
  private waitForLargeTurn(): Promise<void> {
    this.previousLarge = this.previousLarge.then(() => nextTurn());
    return this.previousLarge;
  }

  private async renderTemplate(
    workspaceId: WorkspaceId,
    { templateVersionId, variables }: TemplatedContent,
    unsubscribeUrl: string | undefined,
  ): Promise<RenderedTemplate> {
    const source = await this.options.versions.find(templateVersionId);
    const given = parseJson(variables) as JsonObject;
    return this.options.renderer.render(source, withUnsubscribeUrl(given, unsubscribeUrl), workspaceId);
  }
}

function charactersIn({ html, text, attachments }: Required<MessageSource>): number {
  return (attachments ?? []).reduce((sum, { content }) => sum + content.length, html.length + text.length);
}
