import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it, jest } from '@jest/globals';
import type { RenderingFailed } from '../rendering-failed.ts';
import type { TemplateVersionSource } from './compiled-templates.ts';
import { COOLDOWN_MS, TemplateRenderer } from './template-renderer.ts';

let versions = 0;
const version = (html: string): TemplateVersionSource => ({
  id: `version-${(versions += 1)}`,
  parts: { subject: 'Hi {{name}}', html },
  defaults: {},
});
const OWNER = 'wrk_1';
/** Long enough for a thread to start, and for a trivial template, on a busy machine (50 ms at a load of four times its cores). The tests wait for it two dozen times. */
const DEADLINE_MS = 2_000;
/** The same at a load of nine times its cores, for tests that wait for it once. */
const LONG_DEADLINE_MS = 6_000;
/** A quarter of a billion tests of a variable: it prints nothing, so only the deadline ends it. */
const ENDLESS = version(`{{#each l}}${'{{#if a}}{{/if}}'.repeat(900)}{{/each}}`);
const ENDLESS_VARIABLES = { l: Array.from({ length: 300_000 }, () => 0) };
/** Keeps 19 texts of 5 MB at once. */
const HUNGRY = version(`{{#if (or ${'(join l s) '.repeat(9)}(or ${'(join l s) '.repeat(10)}))}}{{/if}}`);
const HUNGRY_VARIABLES = { l: Array.from({ length: 100_000 }, () => 0), s: '-'.repeat(50) };
/** Too little for {@link HUNGRY}, and enough for {@link ENDLESS}. */
const HUNGRY_HEAP_MB = 64;
const failureOf = (promise: Promise<unknown>): Promise<RenderingFailed> =>
  promise.then(
    () => Promise.reject(new Error('it was rendered')),
    (error: unknown) => {
      const failure = error as RenderingFailed;
      if (failure.reason === 'deadline') reachedDeadlines += 1;
      return failure;
    },
  );
/**
 * How many tasks were ended by their deadlines so far. A wait during which at most one more is ended was shorter than a deadline, which a clock would not say of
 * a machine that was suspended meanwhile.
 */
let reachedDeadlines = 0;
const deadlinesReached = (): number => reachedDeadlines;

describe('TemplateRenderer', () => {
  const renderer = new TemplateRenderer({ maxThreads: 2 });
  afterAll(() => renderer.close());

  it('analyses templates', async () => {
    expect(await renderer.analyse({ subject: '{{a}}', html: '{{b}}' }, OWNER)).toEqual({
      printed: ['a', 'b'],
    });
    expect(await renderer.analyse({ subject: '{{#a}}', html: '' }, OWNER)).toEqual({
      faults: [expect.stringContaining('never closed')],
    });
  });

  it('renders many versions at once, each with its own variables', async () => {
    const sources = [version('<p>{{name}}</p>'), version('<b>{{name}}</b>'), version('<i>{{name}}</i>')];
    const rendered = await Promise.all(
      Array.from({ length: 300 }, (_, n) => renderer.render(sources[n % 3]!, { name: n }, OWNER)),
    );
    rendered.forEach(({ subject, html }, n) => {
      expect(subject).toBe(`Hi ${n}`);
      expect(html).toBe(['<p>', '<b>', '<i>'][n % 3] + String(n) + ['</p>', '</b>', '</i>'][n % 3]);
    });
  });

  it('renders the same input to the same output', async () => {
    const source = version(
      '{{date at "full" time="full" timeZone="Asia/Tokyo"}} {{number n}} {{#each o}}{{@key}}{{/each}}',
    );
    const variables = { at: 0, n: 1e6, o: { b: 1, a: 2 } };
    expect(await renderer.render(source, variables, OWNER)).toEqual(
      await renderer.render(source, variables, OWNER),
    );
  });

  it('fails only the rendering that becomes too large', async () => {
    const large = version('{{#each l}}{{#each @root.l}}{{@root.t}}{{/each}}{{/each}}');
    const variables = { l: Array.from({ length: 1_000 }, () => 0), t: 'x'.repeat(1_000) };
    const [failure, fine] = await Promise.all([
      failureOf(renderer.render(large, variables, OWNER)),
      renderer.render(version('fine'), {}, OWNER),
    ]);
    expect(failure).toMatchObject({ name: 'RenderingFailed', reason: 'too_large' });
    expect(fine.html).toBe('fine');
  });

  it('kills a rendering that takes too long at its deadline; the others of its group are rendered', async () => {
    const impatient = new TemplateRenderer({ maxThreads: 1, deadlineMs: LONG_DEADLINE_MS });
    const [failure, ...fine] = await Promise.all([
      failureOf(impatient.render(ENDLESS, ENDLESS_VARIABLES, OWNER)),
      ...[1, 2, 3].map((n) => impatient.render(version('fine {{n}}'), { n }, OWNER)),
    ]);
    expect(failure).toMatchObject({ name: 'RenderingFailed', reason: 'deadline' });
    expect(fine.map(({ html }) => html)).toEqual(['fine 1', 'fine 2', 'fine 3']);
    await impatient.close();
  });

  it('does not count time in which the whole process was suspended', async () => {
    const impatient = new TemplateRenderer({ maxThreads: 1, deadlineMs: LONG_DEADLINE_MS });
    await impatient.render(version('warm'), {}, OWNER);
    const rendered = impatient.render(
      version('{{#each l}}{{#if this}}{{/if}}{{/each}}fine'),
      {
        l: Array.from({ length: 300_000 }, () => 0),
      },
      OWNER,
    );
    await sleep(10);
    await nextTurn();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONG_DEADLINE_MS + 500);
    expect((await rendered).html).toBe('fine');
    await impatient.close();
  });

  it('keeps a thread free for others, however often a version is requested that takes too long', async () => {
    const impatient = new TemplateRenderer({ maxThreads: 2, deadlineMs: DEADLINE_MS });
    await failureOf(impatient.render(ENDLESS, ENDLESS_VARIABLES, 'hostile'));
    const slow = Array.from({ length: 4 }, () =>
      failureOf(impatient.render(ENDLESS, ENDLESS_VARIABLES, 'hostile')),
    );
    await impatient.render(version('warm'), {}, OWNER);
    const reached = deadlinesReached();
    expect((await impatient.render(version('fine'), {}, OWNER)).html).toBe('fine');
    expect(deadlinesReached() - reached).toBeLessThanOrEqual(1);
    for (const failure of await Promise.all(slow)) expect(failure.reason).toBe('deadline');
    await impatient.close();
  });

  it('keeps a thread free for others, however many versions of one owner take too long', async () => {
    const impatient = new TemplateRenderer({ maxThreads: 2, deadlineMs: DEADLINE_MS });
    const slow = (): Promise<RenderingFailed> =>
      failureOf(
        impatient.render({ ...ENDLESS, id: `slow-${(versions += 1)}` }, ENDLESS_VARIABLES, 'hostile'),
      );
    await slow();
    const failures = Array.from({ length: 12 }, slow);
    await impatient.render(version('warm'), {}, OWNER);
    const reached = deadlinesReached();
    expect((await impatient.render(version('fine'), {}, OWNER)).html).toBe('fine');
    expect(deadlinesReached() - reached).toBeLessThanOrEqual(1);
    await impatient.close();
    const reasons = (await Promise.all(failures)).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'busy')).toHaveLength(8);
  });

  it('keeps a thread free for others, however many templates of one owner take too long to analyse', async () => {
    const impatient = new TemplateRenderer({ maxThreads: 2, deadlineMs: DEADLINE_MS });
    // The parser takes quadratic time for nested blocks.
    const deep = `{{uppercase ${'(uppercase '.repeat(20_000)}a${')'.repeat(20_000)}}}`;
    const failures = Array.from({ length: 12 }, () =>
      failureOf(impatient.analyse({ subject: 's', html: deep }, 'hostile')),
    );
    await Promise.race(failures);
    await impatient.render(version('warm'), {}, OWNER);
    const reached = deadlinesReached();
    expect(await impatient.analyse({ subject: 's', html: 'fine' }, OWNER)).toEqual({ printed: [] });
    expect(deadlinesReached() - reached).toBeLessThanOrEqual(1);
    await impatient.close();
    const reasons = (await Promise.all(failures)).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'busy').length).toBeGreaterThanOrEqual(6);
  });

  it('does not let others wait for all that killed a thread in the same group', async () => {
    const renderer = new TemplateRenderer({
      maxThreads: 1,
      maxHeapMb: HUNGRY_HEAP_MB,
      deadlineMs: 60_000,
    });
    const settled: string[] = [];
    const hungry = Array.from({ length: 6 }, async () => {
      const { reason } = await failureOf(
        renderer.render({ ...HUNGRY, id: `hungry-${(versions += 1)}` }, HUNGRY_VARIABLES, 'hostile'),
      );
      settled.push(reason);
    });
    const fine = renderer.render(version('fine'), {}, OWNER).then(({ html }) => settled.push(html));
    await Promise.all([...hungry, fine]);
    // Of the six, one is tried, four wait in quarantine, and one is refused.
    expect(settled.filter((became) => became !== 'busy').slice(0, 2)).toContain('fine');
    expect(settled.filter((became) => became === 'busy')).toHaveLength(1);
    await renderer.close();
  });

  it('does not let others wait for slow ones of an owner of whom nothing is known yet', async () => {
    const deadlineMs = 60_000;
    const patient = new TemplateRenderer({ maxThreads: 2, deadlineMs });
    const slow = (): Promise<RenderingFailed>[] =>
      Array.from({ length: 3 }, () =>
        failureOf(
          patient.render({ ...ENDLESS, id: `slow-${(versions += 1)}` }, ENDLESS_VARIABLES, 'hostile'),
        ),
      );
    const fine = (): Promise<{ html: string }> => patient.render(version('fine'), {}, OWNER);
    const began = performance.now();
    const first = slow();
    const together = fine();
    await nextTurn();
    const all = [...first, ...slow()];
    expect(await Promise.race([together, ...all])).toMatchObject({ html: 'fine' });
    expect(await Promise.race([fine(), ...all])).toMatchObject({ html: 'fine' });
    expect(performance.now() - began).toBeLessThan(deadlineMs);
    await patient.close();
    await Promise.all(all);
  });

  it('quarantines also what waited already when a version of its owner killed a thread', async () => {
    const impatient = new TemplateRenderer({ maxThreads: 1, deadlineMs: DEADLINE_MS });
    const slow = (): Promise<RenderingFailed> =>
      failureOf(
        impatient.render({ ...ENDLESS, id: `slow-${(versions += 1)}` }, ENDLESS_VARIABLES, 'hostile'),
      );
    const first = slow();
    await nextTurn();
    const waiting = Array.from({ length: 6 }, slow);
    expect((await first).reason).toBe('deadline');
    expect((await Promise.race(waiting)).reason).toBe('busy');
    await impatient.close();
    const reasons = (await Promise.all(waiting)).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'busy')).toHaveLength(2);
  });

  it('renders a version that killed a thread in quarantine, also when its cooldown is over', async () => {
    const impatient = new TemplateRenderer({ maxThreads: 1, deadlineMs: DEADLINE_MS });
    const slow = (): Promise<RenderingFailed> =>
      failureOf(impatient.render(ENDLESS, ENDLESS_VARIABLES, 'hostile'));
    await slow();
    const now = performance.now.bind(performance);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + COOLDOWN_MS);
    const reasons = (await Promise.all(Array.from({ length: 6 }, slow))).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'busy')).toHaveLength(2);
    clock.mockRestore();
    await impatient.close();
  });

  it('fails a version that killed a thread at once for a while, without trying it', async () => {
    const impatient = new TemplateRenderer({ maxThreads: 1, deadlineMs: DEADLINE_MS });
    const first = await failureOf(impatient.render(ENDLESS, ENDLESS_VARIABLES, 'hostile'));
    const more = Array.from({ length: 100 }, () => failureOf(impatient.render(ENDLESS, {}, 'hostile')));
    // What a thread is asked for fails with a failure of its own.
    for (const failure of await Promise.all(more)) expect(failure).toBe(first);
    await impatient.close();
  });

  it('refuses requests beyond the limit of waiting ones, and renders all others', async () => {
    const busy = new TemplateRenderer({ maxThreads: 1, maxWaiting: 2 });
    const source = version(`${'x'.repeat(600_000)}{{n}}`);
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => busy.render({ ...source, id: `busy-${n}` }, { n }, `wrk_${n}`)),
    );
    const turnedAway = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(turnedAway.map(({ reason }) => (reason as RenderingFailed).reason)).toEqual(
      Array.from({ length: 7 }, () => 'busy'),
    );
    expect((await busy.render(version('next'), {}, OWNER)).html).toBe('next');
    await busy.close();
  });

  it('gives no owner more than half of the free places to wait in', async () => {
    const busy = new TemplateRenderer({ maxThreads: 1, maxWaiting: 8 });
    const source = version(`${'x'.repeat(600_000)}{{n}}`);
    const rendered = async (owner: string): Promise<number> => {
      const all = Array.from({ length: 20 }, (_, n) =>
        busy.render({ ...source, id: `${owner}-${n}` }, { n }, owner),
      );
      return (await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled').length;
    };
    // One of the first owner is not waiting but being rendered.
    expect(await Promise.all(['first', 'second', 'third', 'last'].map(rendered))).toEqual([5, 2, 1, 1]);
    await busy.close();
  });

  it('does not let others wait for all requests of an owner whose templates are slow but within the deadline', async () => {
    const patient = new TemplateRenderer({ maxThreads: 1, maxWaiting: 50, deadlineMs: 60_000 });
    const slow = version(`{{#each l}}${'{{#if a}}{{/if}}'.repeat(900)}{{/each}}`);
    const looped = (times: number): { l: number[] } => ({ l: Array.from({ length: times }, () => 0) });
    const variables = looped(100);
    // Slow on any machine: from then on, requests of this owner are not grouped with others.
    await patient.render(slow, looped(3_000), 'slow');
    const settled: string[] = [];
    const all = Array.from({ length: 40 }, async () => {
      const became = patient.render(slow, variables, 'slow').then(
        () => 'slow',
        ({ reason }: RenderingFailed) => reason,
      );
      settled.push(await became);
    });
    const judged = patient
      .analyse({ subject: 's', html: 'fine' }, 'judged')
      .then(() => settled.push('judged'));
    const fine = [1, 2].map(async (n) => {
      await patient.render(version('fine'), {}, `fine ${n}`);
      settled.push(`fine ${n}`);
    });
    await Promise.all([...all, judged, ...fine]);
    // The one that was being rendered when the others came, and one in its turn.
    const begun = settled.filter((name) => name !== 'busy');
    expect(begun.slice(0, 2)).toEqual(['slow', 'slow']);
    expect(new Set(begun.slice(2, 5))).toEqual(new Set(['judged', 'fine 1', 'fine 2']));
    expect(begun.slice(5)).toEqual(Array.from({ length: 24 }, () => 'slow'));
    await patient.close();
  });

  it('releases cached number and date formats, whose memory no limit of a thread includes', async () => {
    const one = new TemplateRenderer({ maxThreads: 1, deadlineMs: 60_000 });
    const source = version(
      '{{#each zones as |zone|}}{{#each ../locales as |locale|}}{{date 0 "full" time="full" timeZone=zone locale=locale}}{{/each}}{{/each}}',
    );
    const all = Intl.supportedValuesOf('timeZone');
    const locales = [
      'ar-EG',
      'zh-Hant-TW',
      'fa-IR-u-ca-persian',
      'he-IL-u-ca-hebrew',
      'hi',
      'bn',
      'ta',
      'ko',
    ];
    const renderGroup = (from: number): Promise<unknown> =>
      one.render(source, { zones: all.slice(from, from + 50), locales }, OWNER);
    await renderGroup(0);
    const before = process.memoryUsage.rss();
    for (let round = 1; round <= 16; round += 1) await renderGroup((round % 8) * 50);
    const grownMb = (process.memoryUsage.rss() - before) / 1_048_576;
    expect(grownMb).toBeLessThan(150);
    await one.close();
  });

  it('ends the thread, not the process, when memory runs out, and goes on with others', async () => {
    const small = new TemplateRenderer({ maxThreads: 1, maxHeapMb: 20, deadlineMs: 60_000 });
    const tags = Array.from(
      { length: 600 },
      (_, n) => `{{#if a${n}}}{{uppercase (join b${n} "x")}}{{/if}}`,
    ).join('');
    expect(await failureOf(small.analyse({ subject: 'x', html: tags }, 'hostile'))).toMatchObject({
      reason: 'memory',
    });
    expect((await small.render(version('next'), {}, OWNER)).html).toBe('next');
    await small.close();
  });

  it('refuses work after it was closed', async () => {
    const closed = new TemplateRenderer();
    await closed.close();
    expect(await failureOf(closed.render(version('x'), {}, OWNER))).toMatchObject({ reason: 'crash' });
  });
});

const CORPUS = new URL('../../../../test/corpus/email-templates/', import.meta.url);
const NAMES = [
  ...['comment-notification', 'dunning', 'example', 'invoice', 'password-reset', 'password-reset-help'],
  ...['receipt', 'trial-expired', 'trial-expiring', 'user-invitation', 'welcome'],
];

describe('the templates of the corpus', () => {
  const renderer = new TemplateRenderer();
  afterAll(() => renderer.close());

  it.each(NAMES)('S3: %s works as it is', async (name) => {
    const read = (file: string) => readFileSync(new URL(`${name}/${file}`, CORPUS), 'utf8');
    const parts = { subject: `About ${name}`, html: read('content.html'), text: read('content.txt') };
    const analysis = await renderer.analyse(parts, OWNER);
    if ('faults' in analysis) throw new Error(analysis.faults.join('; '));
    const variables = Object.fromEntries(analysis.printed.map((path) => [path, `<${path}>`]));
    const { html, text } = await renderer.render({ id: name, parts, defaults: {} }, variables, OWNER);
    // One contains an example of a variable.
    expect(`${html}${text}`.replaceAll('{{ something }} will turn into', '')).not.toContain('{{');
    for (const path of analysis.printed)
      expect(`${html}${text}`).toMatch(new RegExp(`&lt;${path}&gt;|<${path}>`));
    expect(html).not.toMatch(new RegExp(`<(?:${analysis.printed.join('|')})>`));
  });
});
