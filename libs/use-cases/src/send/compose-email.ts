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
import { finishedContent } from './finished-content.ts';
import type { TrackHtml } from '../tracking/track-html.ts';
import type { SigningKeys } from './signing-keys.ts';
import type { UnsubscribeLinks } from '../unsubscribe/unsubscribe-links.ts';
import { insertUnsubscribeUrl, withUnsubscribeUrl } from '../unsubscribe/unsubscribe-variable.ts';
import type { TemplateVersions } from './template-versions.ts';
import { UnsignableEmail } from './unsignable-email.ts';

interface ComposeEmailOptions {
  readonly htmlToText: Pick<HtmlToText, 'convert'>;
  readonly versions: Pick<TemplateVersions, 'find'>;
  readonly renderer: Pick<TemplateRenderer, 'render'>;
  readonly signingKeys: Pick<SigningKeys, 'find'>;
  readonly unsubscribeLinks: Pick<UnsubscribeLinks, 'urlOf'>;
  readonly tracking: Pick<TrackHtml, 'track'>;
}

/** How a message is made. */
interface ComposeOptions {
  /** Whether it is signed with fewer keys, or none, when some cannot be decrypted. */
  readonly mayLackSignature?: boolean;
}

/** A message of more takes milliseconds to compose and to hash, in which nothing else is done. */
const LARGE_CHARACTERS = 256 * 1024;

/** Makes the message that leaves. The same email gives the same bytes at every attempt and for every preview. */
export class ComposeEmail {
  private lastLarge: Promise<void> = Promise.resolve();

  constructor(private readonly options: ComposeEmailOptions) {}

  /**
   * The message, byte for byte as it leaves.
   *
   * @throws RenderingFailed when the template cannot be rendered, or no text can be made of the HTML in time
   * @throws UncomposableMessage when a value could break out of its header
   * @throws UnsignableEmail when a key of its domain cannot be decrypted
   */
  async compose(email: ComposableEmail, options: ComposeOptions = {}): Promise<Buffer> {
    return (await this.composeWithSource(email, options)).message;
  }

  /** The same message, with what it was made of. @throws what {@link compose} does */
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
    if (source.html.length + source.text.length > LARGE_CHARACTERS) await this.turnOfLarge();
    return { source, message: await signEmail(composeMessage(source), keys.signers, fellDueAt) };
  }

  /**
   * What the message is made of.
   *
   * @throws RenderingFailed when the template cannot be rendered, or no text can be made of the HTML in time
   */
  async sourceOf(email: ComposableEmail): Promise<MessageSource> {
    const { id, workspaceId, messageId, fellDueAt, from, to, replyTo, unsubscribe, content } = email;
    const unsubscribeUrl = unsubscribe ? this.options.unsubscribeLinks.urlOf(id) : undefined;
    const said =
      content.type === 'raw'
        ? insertUnsubscribeUrl(content, unsubscribeUrl)
        : await this.rendered(workspaceId, content, unsubscribeUrl);
    const {
      subject,
      text,
      html: untracked,
    } = await finishedContent(this.options.htmlToText, workspaceId, said);
    // Only now: the text keeps the links as they were said.
    const html = await this.options.tracking.track(email, untracked);
    return { id, messageId, date: fellDueAt, from, to, replyTo, unsubscribeUrl, subject, html, text };
  }

  /** Those that are rendered together are composed one by one, with all that waits between them. */
  private turnOfLarge(): Promise<void> {
    this.lastLarge = this.lastLarge.then(() => nextTurn());
    return this.lastLarge;
  }

  private async rendered(
    workspaceId: WorkspaceId,
    { templateVersionId, variables }: TemplatedContent,
    unsubscribeUrl: string | undefined,
  ): Promise<RenderedTemplate> {
    const source = await this.options.versions.find(templateVersionId);
    const given = parseJson(variables) as JsonObject;
    return this.options.renderer.render(source, withUnsubscribeUrl(given, unsubscribeUrl), workspaceId);
  }
}
