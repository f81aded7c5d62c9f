import { findLinks, type TrackingPositions } from './find-links.ts';

/** Runs in a thread of `LinkFinder`. Imports only this library by relative paths, so that Node can run it from source and built. */
export default function find(html: string): TrackingPositions {
  return findLinks(html);
}
