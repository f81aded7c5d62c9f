import { IsIn, IsNumber, IsOptional, Matches, Max, Min } from 'class-validator';
import { AreHeaders, headersIn } from './header-list.ts';
import { Setting } from './setting.ts';
import { baseUrl, IsWebAddress } from './url-with-scheme.ts';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The samplers, by OpenTelemetry's names. */
export type SamplerName = (typeof SAMPLERS)[number];

/** The export of traces; the settings have OpenTelemetry's names. */
export class TraceSettings {
  @Setting(
    'The collector that traces are sent to, over OTLP/HTTP in JSON; `/v1/traces` is appended to its path. Unset: no traces, at no cost.',
    { example: 'http://localhost:4318', defaultText: 'none' },
  )
  @IsOptional()
  @IsWebAddress()
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;

  @Setting(
    'Headers that the collector requires, as name=value, separated by commas; values may be percent-encoded.',
    { secret: true, example: 'authorization=Bearer%20secret', defaultText: 'none' },
  )
  @IsOptional()
  @AreHeaders()
  OTEL_EXPORTER_OTLP_HEADERS?: string;

  @Setting('The name of the process in traces.', {
    defaultText: 'posthorn-<app>',
    example: 'posthorn-sender',
  })
  @IsOptional()
  @Matches(/^[A-Za-z0-9._-]{1,100}$/)
  OTEL_SERVICE_NAME?: string;

  @Setting(
    'Which traces are sent. The samplers whose names begin with parentbased follow the decision in the `traceparent` of the caller; the others ignore it.',
  )
  @IsIn(SAMPLERS)
  OTEL_TRACES_SAMPLER: SamplerName = 'parentbased_always_on';

  @Setting('The share of traces that the traceidratio samplers send, from 0 to 1.')
  @IsNumber()
  @Min(0)
  @Max(1)
  OTEL_TRACES_SAMPLER_ARG = 1;

  /** The options of the exporter. */
  options(endpoint: string) {
    return {
      url: `${baseUrl(endpoint)}/v1/traces`,
      headers: headersIn(this.OTEL_EXPORTER_OTLP_HEADERS ?? ''),
      sampler: this.OTEL_TRACES_SAMPLER,
      samplerRatio: this.OTEL_TRACES_SAMPLER_ARG,
    };
  }
}
