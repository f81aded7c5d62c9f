import { escapeHtml } from '@posthorn/kernel';
import { bodyStart } from './body-start.ts';

/** More characters than any inbox shows beside the subject. */
const PREVIEW_CHARACTERS = 200;
/**
 * A space that is shown as nothing and cannot be collapsed with its neighbours: combining grapheme joiner, zero-width
 * non-joiner, no-break space. Entities, because they survive any charset and stay short in quoted-printable.
 */
const FILLER = '&#847;&zwnj;&nbsp;';
const HIDDEN =
  'display:none;max-height:0;max-width:0;opacity:0;overflow:hidden;font-size:1px;line-height:1px;mso-hide:all';

/**
 * Gives `html` a hidden pre-header: what an inbox shows beside the subject. It stands at the start of the body and is
 * padded, so that no text of the body follows it there. A blank `previewText` changes nothing.
 *
 * @param previewText plain text; it is escaped here
 */
export function withPreviewText(html: string, previewText: string): string {
  if (previewText.trim() === '') return html;
  const at = bodyStart(html);
  return html.slice(0, at) + preHeader(previewText) + html.slice(at);
}

function preHeader(previewText: string): string {
  const missing = Math.max(0, PREVIEW_CHARACTERS - [...previewText].length);
  return `<div style="${HIDDEN}">${escapeHtml(previewText)}${FILLER.repeat(missing)}</div>`;
}
