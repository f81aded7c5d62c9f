import { escapeHtml } from '@posthorn/kernel';
import type { TrackingPositions } from './find-links.ts';
import { linkTarget } from './link-target.ts';

/** The tracking to add to an email. */
export interface Tracking {
  /** The tracked URL for a link; undefined: the link is not changed. Absent: no link is. */
  readonly linkTo?: (url: string) => string | undefined;
  /** The URL of the tracking image; absent: none. */
  readonly image?: string;
}

/**
 * The HTML with its links replaced by tracked ones, and with an image of one pixel at the end of its body. Nothing else
 * changes, byte for byte.
 */
export function withTracking(
  html: string,
  { links, bodyEnd }: TrackingPositions,
  { linkTo, image }: Tracking,
): string {
  const insertions = links.flatMap(({ start, end, value }) => {
    const target = linkTo && linkTarget(value);
    const tracked = target === undefined ? undefined : linkTo!(target);
    return tracked === undefined ? [] : [{ start, end, text: escapeHtml(tracked) }];
  });
  if (image !== undefined) insertions.push({ start: bodyEnd, end: bodyEnd, text: imageOf(image) });
  const parts: string[] = [];
  let copiedTo = 0;
  for (const { start, end, text } of insertions.sort((one, other) => one.start - other.start)) {
    parts.push(html.slice(copiedTo, start), text);
    copiedTo = end;
  }
  return parts.join('') + html.slice(copiedTo);
}

function imageOf(url: string): string {
  const style = 'display:block;width:1px;height:1px;border:0';
  return `<img src="${escapeHtml(url)}" width="1" height="1" alt="" style="${style}">`;
}
