import type { Logger } from 'pino';
import { reportRepeated } from '../logging/report-repeated.ts';
import type { TraceSettings } from '../settings/trace-settings.ts';
import type { Tracer } from './tracer.ts';

/** The traces of a process. */
export interface Tracing {
  /** Undefined: traces are off. */
  readonly tracer: Tracer | undefined;
  /** Exports the remaining spans, for two seconds at most. It never fails. */
  close(): Promise<void>;
}

const OFF: Tracing = { tracer: undefined, close: () => Promise.resolve() };

/**
 * Enables traces if the settings name a collector. Otherwise the library is not even loaded.
 *
 * @param app the name of the process in traces, unless the settings have another
 */
export async function openTracing(
  settings: TraceSettings,
  app: string,
  logger: Pick<Logger, 'warn' | 'info'>,
): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = settings;
  if (endpoint === undefined) return OFF;
  const { OtlpTracer } = await import('./otlp-tracer.ts');
  const tracer = new OtlpTracer({
    ...settings.options(endpoint),
    serviceName: settings.OTEL_SERVICE_NAME ?? `posthorn-${app}`,
    onError: reportRepeated(logger, 'the trace collector does not accept traces; they are dropped'),
  });
  logger.info({ sampler: settings.OTEL_TRACES_SAMPLER }, 'sending traces to a collector');
  return { tracer, close: () => tracer.close() };
}
