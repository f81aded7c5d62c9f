import { findLinks, type TrackablePlaces } from './find-links.ts';

/** Runs in a thread of `LinkFinder`; it loads only what lies beside it, so that Node can run it from source or built alike. */
export default function find(html: string): TrackablePlaces {
  return findLinks(html);
}
