/** Attributes of a span. They must never contain an address, a subject, a URL or a secret. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** The data of a new span. */
export interface NewSpan {
  /** OpenTelemetry's span kind: handles a request, makes one, processes a queued item, or none of these. */
  readonly kind: 'server' | 'client' | 'consumer' | 'internal';
  /** The `traceparent` of its parent; absent or null: it starts a new trace. */
  readonly parent?: string | null | undefined;
  /** The `traceparent`s of linked spans; invalid ones are ignored. */
  readonly links?: readonly string[];
  readonly attributes?: SpanAttributes;
  /** When it began, by `performance.now()`. Default: now. */
  readonly startedAt?: number;
}

/** The data of the end of a span. */
export interface SpanEnd {
  /** Replaces its initial name. */
  readonly name?: string;
  readonly attributes?: SpanAttributes;
  /** A low-cardinality error type; absent: it did not fail. */
  readonly fault?: string | undefined;
}

/** A span that has not ended yet. */
export interface Span {
  /** Its trace context, as in the header (W3C Trace Context, section 3.2): 55 characters. */
  readonly traceparent: string;
  end(end?: SpanEnd): void;
}

/**
 * Starts spans. Undefined while traces are off: callers use `tracer?.start(…)`, so that not even the arguments are evaluated.
 */
export interface Tracer {
  start(name: string, span: NewSpan): Span;
}
