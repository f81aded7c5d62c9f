/** As many are kept as they came. However small a piece is, to keep it costs some two hundred bytes: a body that comes byte by byte would cost that for each. */
const MAX_UNMERGED_CHUNKS = 256;

/** The pieces of a body, in the order in which they come. */
export class BodyPieces {
  private readonly joined: Buffer[] = [];
  private loose: Buffer[] = [];
  /** How many bytes have come. */
  bytes = 0;

  /** How many buffers are kept. */
  get kept(): number {
    return this.joined.length + this.loose.length;
  }

  add(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.loose.push(piece) < MAX_UNMERGED_CHUNKS) return;
    this.joined.push(Buffer.concat(this.loose));
    this.loose = [];
  }

  /** The whole, which is the piece itself where there is but one. */
  whole(): Buffer {
    const all = [...this.joined, ...this.loose];
    return all.length === 1 ? all[0]! : Buffer.concat(all);
  }
}
