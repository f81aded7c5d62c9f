import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sleep, within } from '@posthorn/kernel';
import { TraceCollector } from '@posthorn/testing';
import { readSettings } from '../settings/read-settings.ts';
import { TraceSettings } from '../settings/trace-settings.ts';
import { openTracing, type Tracing } from './open-tracing.ts';
import type { NewSpan, Span } from './tracer.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

let collector: TraceCollector;
let tracing: Tracing;
let said: string[];
beforeEach(async () => {
  collector = await TraceCollector.start();
  said = [];
});
afterEach(() => collector.close());

async function open(env: Record<string, string> = {}): Promise<void> {
  const settings = readSettings(
    { traces: TraceSettings },
    { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, ...env },
  );
  const note = (...words: unknown[]): void => void said.push(words.map(textOf).join(' '));
  tracing = await openTracing(settings.traces, 'test', { warn: note, info: note } as never);
}

function textOf(word: unknown): string {
  const { err } = word as { err?: Error };
  return err === undefined ? JSON.stringify(word) : `${err.name}: ${err.message}`;
}

const start = (span: Partial<NewSpan> = {}): Span =>
  tracing.tracer!.start('work', { kind: 'internal', ...span });

describe('A span', () => {
  it('is exported with its parent, links, attributes and times, and with the configured headers', async () => {
    await open({
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc,x-a=1',
      OTEL_SERVICE_NAME: 'mailer',
    });
    const parent = `00-${TRACE}-${SPAN}-01`;
    const startedAt = performance.now() - 1_000;
    const span = start({
      parent,
      links: [parent, 'nonsense'],
      attributes: { a: 1, none: undefined },
      startedAt,
    });
    span.end({ name: 'better', attributes: { b: 'two' }, fault: 'timeout' });
    await tracing.close();
    // Closing waits for at most two seconds; on a busy machine the export arrives a little later.
    while (collector.spans.length === 0) await sleep(20);
    expect(collector.requests[0]).toMatchObject({ 'authorization': 'Bearer abc', 'x-a': '1' });
    expect(collector.spans).toEqual([
      expect.objectContaining({
        service: 'mailer',
        name: 'better',
        traceId: TRACE,
        parentSpanId: SPAN,
        attributes: { 'a': 1, 'b': 'two', 'error.type': 'timeout' },
        links: [expect.objectContaining({ traceId: TRACE, spanId: SPAN })],
        status: expect.objectContaining({ code: 2 }),
      }),
    ]);
    const [told] = collector.spans;
    expect(span.traceparent).toBe(`00-${TRACE}-${told!.spanId}-01`);
    const tookMs = Number((BigInt(told!.endTimeUnixNano) - BigInt(told!.startTimeUnixNano)) / 1_000_000n);
    expect(tookMs).toBeGreaterThan(900);
    expect(tookMs).toBeLessThan(60_000);
  });

  it.each([
    ['nothing', undefined],
    ['an empty header', ''],
    ['another format', 'abc'],
    ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no span', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['the invalid version ff', `ff-${TRACE}-${SPAN}-01`],
    ['more than its version has', `00-${TRACE}-${SPAN}-01-more`],
    ['two headers, as Node joins them', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ['an attempt at another header', `00-${TRACE}-${SPAN}-01\r\nx-evil: 1`],
    ['16 KiB', 'a'.repeat(16_384)],
    ['16 KiB that begin well', `00-${TRACE}-${SPAN}-01${' '.repeat(16_384)}`],
  ])('begins a new trace where the parent is %s', async (_what, parent) => {
    await open();
    const { traceparent } = start({ parent });
    expect(traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(traceparent).not.toContain(TRACE);
    await tracing.close();
  });

  it.each([
    ['a future version', `cc-${TRACE}-${SPAN}-01-what-that-will-be`, '01'],
    ['future flags', `00-${TRACE}-${SPAN}-ff`, '01'],
    ['a parent that is not sampled', `00-${TRACE}-${SPAN}-00`, '00'],
  ])('continues the trace of %s, in version 00', async (_what, parent, flags) => {
    await open();
    expect(start({ parent }).traceparent).toMatch(
      new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-${flags}$`),
    );
    await tracing.close();
  });
});

describe('Sampling', () => {
  it.each([
    [{}, `00-${TRACE}-${SPAN}-00`, '00'],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, `00-${TRACE}-${SPAN}-00`, '01'],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, `00-${TRACE}-${SPAN}-01`, '00'],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, `00-${TRACE}-${SPAN}-01`, '00'],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, undefined, '00'],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, `00-${TRACE}-${SPAN}-01`, '01'],
  ] as [Record<string, string>, string | undefined, string][])(
    'with %j and the parent %s sets the flags to %s',
    async (env, parent, flags) => {
      await open(env);
      expect(start({ parent }).traceparent.slice(-2)).toBe(flags);
      await tracing.close();
    },
  );
});

describe('A collector that', () => {
  it.each(['refuses', 'hangs'] as const)('%s delays nothing', async (behaviour) => {
    await open();
    collector.behaviour = behaviour;
    for (let n = 0; n < 20_000; n += 1) start().end();
    const closed = tracing.close().then(() => 'closed');
    expect(await within(closed, 10_000)).toBe('closed');
  });

  it('refuses is logged, without what was sent to it', async () => {
    await open({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hunter2' });
    collector.behaviour = 'refuses';
    start().end();
    while (!said.some((line) => line.includes('the collector answered 400'))) await sleep(20);
    await tracing.close();
    expect(said.join()).not.toContain('hunter2');
  });
});
