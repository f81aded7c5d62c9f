import type { ThreadInput } from '../rendering-threads.ts';
import { findLinks, type TrackingPositions } from './find-links.ts';

/** Runs in a thread of `LinkFinder`. Imports only this library by relative paths, so that Node can run it from source and built. */
export default function find({ task: html, begun }: ThreadInput<string>): TrackingPositions {
  Atomics.store(begun, 0, 1);
  return findLinks(html);
}
