import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { closeServer, listenOnLoopback, originOf } from './loopback.ts';

/** A value in the JSON encoding of OTLP; integers may be strings. */
type OtlpValue = Partial<Record<'stringValue' | 'intValue' | 'doubleValue' | 'boolValue', unknown>>;
type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[];

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: OtlpAttributes;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpAttributes };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A span that the collector has received. */
export interface ReceivedSpan extends Omit<OtlpSpan, 'attributes' | 'links'> {
  /** The name of the process. */
  readonly service: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** What a collector does with a request: accepts it, refuses it, or never answers. */
export type CollectorBehaviour = 'accepts' | 'refuses' | 'hangs';

/** A trace collector on loopback: it accepts OTLP/HTTP in JSON and keeps the spans. */
export class TraceCollector {
  readonly spans: ReceivedSpan[] = [];
  /** The headers of each request. */
  readonly requests: IncomingMessage['headers'][] = [];
  behaviour: CollectorBehaviour = 'accepts';

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => void collector.answer(request, response));
    await listenOnLoopback(server);
    return collector;
  }

  /** The value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  get url(): string {
    return originOf(this.server);
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(request.headers);
    if (this.behaviour === 'hangs') return;
    const isTaken = this.behaviour === 'accepts' && request.method === 'POST' && request.url === '/v1/traces';
    if (isTaken) this.spans.push(...spansIn((await json(request)) as OtlpRequest));
    response.writeHead(isTaken ? 200 : 400, { 'Content-Type': 'application/json' }).end('{}');
  }
}

function spansIn({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, links = [], ...span }) => ({
        ...span,
        service,
        links,
        attributes: valuesOf(attributes),
      })),
    );
  });
}

function valuesOf(attributes: OtlpAttributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      'intValue' in value ? Number(value.intValue) : Object.values(value)[0],
    ]),
  );
}
