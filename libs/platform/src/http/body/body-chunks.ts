/** So many chunks are kept before they are merged. Each has an overhead of some 200 bytes, which a body that arrives byte by byte would multiply. */
const MAX_UNMERGED_CHUNKS = 256;

/** The chunks of a request body, in order. */
export class BodyChunks {
  private readonly joined: Buffer[] = [];
  private loose: Buffer[] = [];
  /** The number of bytes received. */
  bytes = 0;

  /** The number of buffers kept. */
  get kept(): number {
    return this.joined.length + this.loose.length;
  }

  add(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.loose.push(piece) < MAX_UNMERGED_CHUNKS) return;
    this.joined.push(Buffer.concat(this.loose));
    this.loose = [];
  }

  /** The whole body; a single chunk is not copied. */
  whole(): Buffer {
    const all = [...this.joined, ...this.loose];
    return all.length === 1 ? all[0]! : Buffer.concat(all);
  }
}
