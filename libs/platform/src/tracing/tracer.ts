/** What spans say beside their name and times. Never an address, a subject, a URL or a secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A span that begins. */
export interface NewSpan {
  /** Who does it for whom: answers a request, asks another, takes up what was left for it, or none of these. */
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  /** The `traceparent` of what caused it; absent, or none at all: it begins a trace. */
  readonly parent?: string | null | undefined;
  /** The `traceparent`s of what else it belongs to; what is none is left out. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
  /** When it began, by `performance.now()`. Default: now. */
  readonly startedAt?: number;
}

/** How a span ends. */
export interface SpanEnd {
  /** A better name than the one that it began with. */
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  /** A word for what it failed with, out of few; absent: it did not fail. */
  readonly fault?: string | undefined;
}

/** Work of ours, until it ends. */
export interface Span {
  /** Its place in its trace, as the header says it (W3C Trace Context, section 3.2): 55 characters. */
  readonly traceparent: string;
  end(end?: SpanEnd): void;
}

/**
 * Tells a collector what this process does. There is none while traces are off: who asks says `tracer?.start(…)`, and then nothing is even
 * made to be told.
 */
export interface Tracer {
  start(name: string, span: NewSpan): Span;
}
