import { findLinks } from './find-links.ts';

/** Runs in a thread of `LinkFinder`. Imports only this library by relative paths, so that Node can run it from source and built. */
export default findLinks;
