import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span as OtelSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer as OtelTracer,
} from '@opentelemetry/api';
import { parseTraceParent, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { RELEASE, within } from '@posthorn/kernel';
import type { SamplerName } from '../settings/trace-settings.ts';
import { samplerOf } from './samplers.ts';
import type { NewSpan, Span, SpanAttributes, SpanEnd, Tracer } from './tracer.ts';

/** The size of the export queue; above it, spans are dropped. A busy sender fills it in about four seconds. */
const MAX_SPANS_WAITING = 8_192;
const MAX_SPANS_PER_REQUEST = 512;
const EXPORT_EVERY_MS = 2_000;
const EXPORT_TIMEOUT_MS = 10_000;
/** Part of the 25 seconds that a shutdown may take. */
const CLOSE_TIMEOUT_MS = 2_000;

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
} as const satisfies Record<NewSpan['kind'], SpanKind>;

/** Where spans are exported to, and which. */
export interface OtlpTracerOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  readonly sampler: SamplerName;
  readonly samplerRatio: number;
  /** Called when an export failed. */
  readonly onError: (error: unknown) => void;
}

/**
 * Exports spans to a collector over OTLP/HTTP in JSON. They are posted in the background, from a bounded queue: a collector that is down, slow or
 * refuses them only causes lost spans. Parents are given explicitly, not taken from an async context.
 */
export class OtlpTracer implements Tracer {
  private readonly provider: TracerProvider;
  private readonly tracer: OtelTracer;

  constructor(options: OtlpTracerOptions) {
    const { url, headers, serviceName, sampler, samplerRatio, onError } = options;
    setGlobalErrorHandler((fault) => onError(withoutDetail(fault)));
    const exporter = new OTLPTraceExporter({
      url,
      headers: { ...headers },
      timeoutMillis: EXPORT_TIMEOUT_MS,
    });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': RELEASE }),
      sampler: samplerOf(sampler, samplerRatio),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: MAX_SPANS_WAITING,
          maxExportBatchSize: MAX_SPANS_PER_REQUEST,
          scheduledDelayMillis: EXPORT_EVERY_MS,
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        }),
      ],
    });
    this.tracer = this.provider.getTracer('posthorn', RELEASE);
  }

  start(name: string, { kind, parent, links = [], attributes, startedAt }: NewSpan): Span {
    const span = this.tracer.startSpan(
      name,
      {
        kind: KINDS[kind],
        links: links.flatMap((link) => contextIn(link) ?? []).map((context) => ({ context })),
        ...(attributes && { attributes: defined(attributes) }),
        ...(startedAt !== undefined && { startTime: startedAt }),
      },
      contextBelow(parent),
    );
    return new OtlpSpan(span);
  }

  /** See {@link Tracing}. */
  async close(): Promise<void> {
    const told = this.provider.shutdown().catch(() => undefined); // the queue's own handler has said why
    await within(told, CLOSE_TIMEOUT_MS);
  }
}

class OtlpSpan implements Span {
  readonly traceparent: string;

  constructor(private readonly span: OtelSpan) {
    this.traceparent = traceparentOf(span.spanContext());
  }

  end({ name, attributes, fault }: SpanEnd = {}): void {
    if (name !== undefined) this.span.updateName(name);
    if (attributes !== undefined) this.span.setAttributes(defined(attributes));
    if (fault !== undefined) {
      this.span.setAttribute('error.type', fault).setStatus({ code: SpanStatusCode.ERROR });
    }
    this.span.end();
  }
}

/** Parses an untrusted header; an invalid one is ignored (W3C Trace Context, section 3.2.2). */
function contextIn(traceparent: string): SpanContext | undefined {
  const context = parseTraceParent(traceparent);
  // Only the flag that is known to us is passed on.
  return context === null
    ? undefined
    : { ...context, traceFlags: context.traceFlags & TraceFlags.SAMPLED, isRemote: true };
}

function contextBelow(parent: string | null | undefined): Context {
  const context = parent ? contextIn(parent) : undefined;
  return context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context);
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${(traceFlags & TraceFlags.SAMPLED).toString(16)}`;
}

function defined(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** Removes untrusted text of the collector, and the request, which contains its credentials. */
function withoutDetail(fault: unknown): Error {
  const { message, code } = fault as { message?: unknown; code?: unknown };
  const said = typeof message === 'string' ? message.slice(0, 200) : 'it failed';
  return new Error(typeof code === 'number' ? `the collector answered ${code}` : said);
}
