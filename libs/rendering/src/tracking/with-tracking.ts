import { escapeHtml } from '@posthorn/kernel';
import type { TrackablePlaces } from './find-links.ts';
import { linkTarget } from './link-target.ts';

/** What an email is given so that its reader is noticed. */
export interface Tracking {
  /** What a link to this URL becomes; undefined: it stays. Absent: all of them stay. */
  readonly linkTo?: (url: string) => string | undefined;
  /** The URL of the image; absent: there is none. */
  readonly image?: string;
}

/**
 * The HTML with its links leading by way of others, and with an image of one pixel at the end of its body. Nothing else of it
 * changes: what is not the value of such an `href` stays byte for byte.
 */
export function withTracking(html: string, places: TrackablePlaces, { linkTo, image }: Tracking): string {
  const parts: string[] = [];
  let copied = 0;
  const insert = (start: number, end: number, text: string): void => {
    parts.push(html.slice(copied, start), text);
    copied = end;
  };
  const pixel = image === undefined ? '' : imageOf(image);
  let isPlaced = false;
  for (const { start, end, value } of places.links) {
    if (!isPlaced && start >= places.bodyEnd) {
      isPlaced = true;
      insert(places.bodyEnd, places.bodyEnd, pixel);
    }
    const target = linkTo && linkTarget(value);
    const led = target === undefined ? undefined : linkTo!(target);
    if (led !== undefined) insert(start, end, escapeHtml(led));
  }
  if (!isPlaced) insert(places.bodyEnd, places.bodyEnd, pixel);
  return parts.join('') + html.slice(copied);
}

function imageOf(url: string): string {
  const style = 'display:block;width:1px;height:1px;border:0';
  return `<img src="${escapeHtml(url)}" width="1" height="1" alt="" style="${style}">`;
}
