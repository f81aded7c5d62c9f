/** What a database has of the past: the times in which it was the one that everybody used. */
export interface Lineage {
  /** Ended spans, in milliseconds. */
  readonly spans: readonly Span[];
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** A backup, and what is in it for certain. */
export interface Backup extends Lineage {
  readonly file: string;
}

/** Which times the database of the moment has, of all that were lost and restored. */
export class Past {
  private spans: readonly Span[] = [];
  private sinceMs = 0;

  /** What a backup has that begins now. */
  soFar(): Lineage {
    return { spans: [...this.spans, { fromMs: this.sinceMs, toMs: Date.now() }] };
  }

  /** The database was replaced by a backup. */
  becomes({ spans }: Lineage): void {
    this.spans = spans;
    this.sinceMs = Date.now();
  }

  /** Whether whatever was begun and answered at these times is in the database for certain. */
  has(begunMs: number, answeredMs: number): boolean {
    const open = { fromMs: this.sinceMs, toMs: Infinity };
    return [...this.spans, open].some(({ fromMs, toMs }) => begunMs >= fromMs && answeredMs <= toMs);
  }
}
