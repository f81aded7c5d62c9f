import type { WorkspaceId } from '@posthorn/kernel';
import { SIZES } from '@posthorn/domain';
import { type HtmlToText, withPreviewText } from '@posthorn/rendering';

/** The content of an email as given by its caller or rendered from its template. */
interface GivenContent {
  readonly subject: string;
  readonly html: string;
  /** Absent or null: generated from the HTML. */
  readonly text?: string | null;
  readonly previewText?: string | null;
}

/** The content of an email as it is sent. */
export interface FinalContent {
  readonly subject: string;
  /** With the hidden preview text at its start. */
  readonly html: string;
  readonly text: string;
}

/**
 * Inserts the preview text and generates missing plain text; shared by sending and previews.
 *
 * @throws RenderingFailed when the HTML cannot be converted to text in time
 */
export async function finalContent(
  htmlToText: Pick<HtmlToText, 'convert'>,
  workspaceId: WorkspaceId,
  { subject, html: givenHtml, text, previewText }: GivenContent,
): Promise<FinalContent> {
  const html = previewText ? withPreviewText(givenHtml, previewText) : givenHtml;
  return { subject, html, text: text ?? (await generateText(htmlToText, workspaceId, html)) };
}

/** Generated text can be many times as long as its HTML (nested lists repeat their indentation), so it is cut to the maximum for a given text. */
async function generateText(
  htmlToText: Pick<HtmlToText, 'convert'>,
  workspaceId: WorkspaceId,
  html: string,
): Promise<string> {
  const text = await htmlToText.convert(html, workspaceId);
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= SIZES.text.max) return text;
  // `stream` drops an incomplete character at the end.
  return new TextDecoder().decode(bytes.subarray(0, SIZES.text.max), { stream: true });
}
