import { type ComposableEmail } from '@posthorn/database';
import { SIZES } from '@posthorn/domain';
import { composeMessage, type HtmlToText, type MessageSource, withPreviewText } from '@posthorn/rendering';

/** Makes the message that leaves. The same email gives the same bytes at every attempt and for every preview. */
export class ComposeEmail {
  constructor(private readonly htmlToText: Pick<HtmlToText, 'convert'>) {}

  /**
   * The message, byte for byte as it leaves.
   *
   * @throws RenderingFailed when no text can be made of the HTML in time
   * @throws UncomposableMessage when a value could break out of its header
   */
  async compose(email: ComposableEmail): Promise<Buffer> {
    return composeMessage(await this.sourceOf(email));
  }

  /**
   * What the message is made of.
   *
   * @throws RenderingFailed when no text can be made of the HTML in time
   */
  async sourceOf(email: ComposableEmail): Promise<MessageSource> {
    const { id, messageId, fellDueAt, from, to, replyTo, subject, previewText } = email;
    const html = previewText === null ? email.html : withPreviewText(email.html, previewText);
    const text = email.text ?? (await this.textOf(html));
    return { id, messageId, date: fellDueAt, from, to, replyTo, subject, html, text };
  }

  /** Made text can be many times its HTML (nested lists repeat their indentation); it may not be longer than one that is given. */
  private async textOf(html: string): Promise<string> {
    return (await this.htmlToText.convert(html)).slice(0, SIZES.text.most);
  }
}
