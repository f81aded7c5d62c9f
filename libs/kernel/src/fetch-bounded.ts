/** Far more than key sets, lists of groups and tokens need; an endless response would exhaust memory before its timeout. */
const MAX_BYTES = 1024 * 1024;

/** As `fetch`, but reads the whole body. @throws TypeError for a body that is too long, as `fetch` throws for its failures */
export async function fetchBounded(url: string, options: RequestInit): Promise<Response> {
  const answer = await fetch(url, options);
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
