import { expect, it } from '@jest/globals';
import { readSettings, SettingsError } from './read-settings.ts';
import { TraceSettings } from './trace-settings.ts';

const read = (env: Record<string, string>): TraceSettings =>
  readSettings({ traces: TraceSettings }, env).traces;

it('Traces go to the OTLP path below the URL of the collector, with the configured headers', () => {
  const OTEL_EXPORTER_OTLP_HEADERS = 'authorization=Bearer%20a%2Cb, x-empty=,x-key = a=b';
  expect(
    read({ OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER_ARG: '0.25' }).options(
      'http://collector:4318/base/',
    ),
  ).toEqual({
    url: 'http://collector:4318/base/v1/traces',
    headers: { 'authorization': 'Bearer a,b', 'x-empty': '', 'x-key': 'a=b' },
    sampler: 'parentbased_always_on',
    samplerRatio: 0.25,
  });
});

it.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'grpc://collector'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b,hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b,c d=hunter2'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=hunter2%0D%0Ab:c'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%FF'],
  ['OTEL_SERVICE_NAME', 'two words'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
  ['OTEL_TRACES_SAMPLER_ARG', 'half'],
])('%s cannot be %s, and the error shows no secret', (name, value) => {
  let message = '';
  try {
    read({ [name]: value });
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    ({ message } = error as Error);
  }
  expect(message).toContain(name);
  expect(message).not.toContain('hunter2');
});
