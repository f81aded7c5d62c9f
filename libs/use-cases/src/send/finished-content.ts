import type { WorkspaceId } from '@posthorn/kernel';
import { SIZES } from '@posthorn/domain';
import { type HtmlToText, withPreviewText } from '@posthorn/rendering';

/** What an email is to say, before anything was made of it. */
interface SaidContent {
  readonly subject: string;
  readonly html: string;
  /** Absent or null: to be made from the HTML. */
  readonly text?: string | null;
  readonly previewText?: string | null;
}

/** What an email says when it leaves. */
export interface FinishedContent {
  readonly subject: string;
  /** With the preview text hidden at its start. */
  readonly html: string;
  readonly text: string;
}

/**
 * Makes what leaves of what is to be said: told once, so that whoever previews sees what arrives.
 *
 * @param workspaceId whose it is
 * @throws RenderingFailed when no text can be made of the HTML in time
 */
export async function finishedContent(
  htmlToText: Pick<HtmlToText, 'convert'>,
  workspaceId: WorkspaceId,
  { subject, html: said, text, previewText }: SaidContent,
): Promise<FinishedContent> {
  const html = previewText ? withPreviewText(said, previewText) : said;
  return { subject, html, text: text ?? (await madeText(htmlToText, workspaceId, html)) };
}

/** It can be many times its HTML (nested lists repeat their indentation), and may not be longer than one that is given. */
async function madeText(
  htmlToText: Pick<HtmlToText, 'convert'>,
  workspaceId: WorkspaceId,
  html: string,
): Promise<string> {
  const text = await htmlToText.convert(html, workspaceId);
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= SIZES.text.max) return text;
  // As of a stream, of which more may come: without what there is of a character at the end.
  return new TextDecoder().decode(bytes.subarray(0, SIZES.text.max), { stream: true });
}
