import type { CustomFetchOptions } from 'openid-client';

/** Key sets and lists of groups are far shorter; an answer without an end would fill the memory until its time is up. */
const MAX_BYTES = 1024 * 1024;

/** Asks as `fetch` does, and reads all of the answer. @throws TypeError, as `fetch` does, for one that is too long */
export async function fetchBounded(url: string, options: CustomFetchOptions): Promise<Response> {
  const answer = await fetch(url, options as RequestInit);
  const body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = answer.body ?? [];
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    // Leaving the loop closes the connection.
    if (bytes > MAX_BYTES) throw new TypeError(`an answer is longer than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  return new Response(bytes === 0 ? null : Buffer.concat(pieces), answer);
}
