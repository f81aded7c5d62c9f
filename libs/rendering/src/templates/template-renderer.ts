import { BoundedMap, workerUrl } from '@posthorn/kernel';
import { RenderingFailed } from '../rendering-failed.ts';
import { RenderingThreads, type ThreadLimits } from '../rendering-threads.ts';
import { Suspects } from '../suspects.ts';
import type { TemplateAnalysis } from './analyse-template.ts';
import type { RenderedTemplate, TemplateVersionSource } from './compiled-templates.ts';
import type { TemplateParts, Variables } from './template-parts.ts';
import type { Rendering, TemplateTask } from './template.worker.ts';

const MAX_PER_GROUP = 32;
/** Above it a group is sent off, whatever its number: what is large is copied to the thread and back. */
const MAX_CHARACTERS_PER_GROUP = 1_048_576;
const MAX_RESTING = 1_000;
/** A version that cost a thread its life is not tried again for so long, and its owner suspected: each try can cost another one its deadline. */
const REST_MS = 30_000;
/** Many times what an email takes. Whoever has one that took longer goes alone for a while: whoever went along would wait for it. */
const SLOW_MS = 100;
const MAX_SLOW = 1_000;
/** Longer than a suspect is one: afterwards, too, nobody else is to wait for what they have. */
const ALONE_MS = 60_000;
const WORK = 'rendering the template';

/** What a version failed with, and when it may be tried again, by the monotonic clock. */
interface Rest {
  readonly failure: RenderingFailed;
  readonly until: number;
}

interface Wanted {
  readonly source: TemplateVersionSource;
  readonly variables: Variables;
  readonly owner: string;
}

interface Waiting extends Wanted {
  readonly resolve: (rendered: RenderedTemplate) => void;
  readonly reject: (failure: unknown) => void;
}

/**
 * Judges and renders templates in threads with a deadline and a memory limit, because a template is a program from outside.
 * Each owner gets a thread in turn, and what waits goes there together, unless its owner has lately had something slow. A version that cost a thread its life rests: for half a minute it fails at once, as
 * it did; then it is rendered alone, one at a time, so that others keep the other threads. So is, for that half minute, whatever else its
 * owner has: versions are made faster than they are found out.
 */
export class TemplateRenderer {
  private readonly threads: RenderingThreads<TemplateTask, TemplateAnalysis | Rendering[]>;
  private readonly suspects = new Suspects(WORK, REST_MS);
  /** By the ids of versions; whose rest is over is tried alone. */
  private readonly rests = new BoundedMap<string, Rest>(MAX_RESTING);
  /** Who has had something slow, until when, by the monotonic clock. */
  private readonly slow = new BoundedMap<string, number>(MAX_SLOW);
  private waiting: Waiting[] = [];

  constructor(limits: ThreadLimits = {}) {
    const worker = workerUrl(import.meta.url, 'template.worker');
    this.threads = new RenderingThreads(worker, WORK, limits);
  }

  /**
   * As {@link analyseTemplate}, in a thread.
   *
   * @param owner whose it is, such as a workspace's id: what it does to the threads is laid to its charge
   * @throws {@link RenderingFailed} when it takes too long, needs too much memory, cannot be done or was not begun because too many wait
   */
  async analyse(parts: TemplateParts, owner: string): Promise<TemplateAnalysis> {
    return (await this.suspects.run(this.threads, { analyse: parts }, owner)) as TemplateAnalysis;
  }

  /**
   * What a version says with these variables, and its defaults where they have nothing. The same goes in, the same comes out.
   *
   * @param owner whose it is, such as a workspace's id: what it does to the threads is laid to its charge
   * @throws {@link RenderingFailed} when it takes too long, needs too much memory, becomes too large, cannot be done or was not
   *   begun because too many wait
   */
  render(source: TemplateVersionSource, variables: Variables, owner: string): Promise<RenderedTemplate> {
    const wanted = { source, variables, owner };
    if (this.rests.has(source.id) || this.suspects.has(owner)) return this.renderSuspect(wanted);
    return new Promise((resolve, reject) => {
      const own = { ...wanted, resolve, reject };
      this.waiting.push(own);
      void this.renderSome(own);
    });
  }

  /** Ends the threads; renderings under way or asked for later fail. */
  close(): Promise<void> {
    return this.threads.close();
  }

  /** Every call waits for a thread; the one that gets it takes along what has come until then, unless another has taken it along before. */
  private async renderSome(own: Waiting): Promise<void> {
    let group: Waiting[] = [];
    try {
      const renderings = (await this.threads.run(own.owner, () => {
        this.separateSuspects();
        group = this.takeGroup(own);
        return group.length === 0 ? undefined : taskOf(group);
      })) as Rendering[];
      group.forEach((one, index) => this.settle(one, renderings[index]!));
    } catch (failure) {
      if (group.length === 0) this.rejectWaiting(own, failure);
      else this.groupFailed(group, failure);
    }
  }

  /** Rejects one that could not be rendered, unless another call has taken it along. */
  private rejectWaiting(own: Waiting, failure: unknown): void {
    if (!this.waiting.includes(own)) return;
    this.waiting = this.waiting.filter((one) => one !== own);
    own.reject(failure);
  }

  /** Renders those alone whose owners have killed a thread since they came. */
  private separateSuspects(): void {
    const { true: suspected = [], false: others = [] } = Object.groupBy(this.waiting, ({ owner }) =>
      String(this.suspects.has(owner)),
    );
    this.waiting = others;
    for (const one of suspected) this.renderSuspect(one).then(one.resolve, one.reject);
  }

  private takeGroup(own: Waiting): Waiting[] {
    if (!this.waiting.includes(own)) return [];
    const group: Waiting[] = [];
    let characters = 0;
    const seen = new Set<string>();
    for (const one of this.candidatesFor(own)) {
      const { id, parts } = one.source;
      const size = seen.has(id) ? parts.html.length : parts.html.length * 2;
      if (group.length >= MAX_PER_GROUP) break;
      if (group.length > 0 && characters + size > MAX_CHARACTERS_PER_GROUP) break;
      seen.add(id);
      group.push(one);
      characters += size;
    }
    const taken = new Set(group);
    this.waiting = this.waiting.filter((one) => !taken.has(one));
    return group;
  }

  /** What may go to a thread together with `own`, which comes first. */
  private candidatesFor(own: Waiting): Waiting[] {
    if (this.isSlow(own)) return [own];
    return [own, ...this.waiting.filter((one) => one !== own && !this.isSlow(one))];
  }

  private isSlow({ owner }: Wanted): boolean {
    return performance.now() < (this.slow.get(owner) ?? 0);
  }

  private renderAloneForAWhile(owner: string): void {
    this.slow.set(owner, performance.now() + ALONE_MS);
  }

  private settle({ owner, resolve, reject }: Waiting, rendering: Rendering): void {
    if (rendering.ms > SLOW_MS) this.renderAloneForAWhile(owner);
    try {
      resolve(renderedIn(rendering));
    } catch (failure) {
      reject(failure);
    }
  }

  /** Whoever it was: rendered alone, it fails alone. */
  private groupFailed(group: readonly Waiting[], failure: unknown): void {
    if (group.length === 1) {
      const [{ source, owner, reject }] = group as [Waiting];
      this.judge(owner, source.id, failure);
      reject(failure);
      return;
    }
    for (const { owner } of group) this.renderAloneForAWhile(owner);
    for (const own of Map.groupBy(group, ({ owner }) => owner).values()) void this.renderOneByOne(own);
  }

  /** What is left of one owner: no more than a thread at a time, beside what is left of others. Once the owner is found out, as of any suspect. */
  private async renderOneByOne(own: readonly Waiting[]): Promise<void> {
    for (const one of own) {
      const isSuspected = this.suspects.has(one.owner);
      const rendering = isSuspected ? this.renderSuspect(one) : this.renderAlone(one);
      const settled = rendering.then(one.resolve, one.reject);
      // Of suspects all are asked for at once: those beyond the places there are turned away.
      if (!isSuspected) await settled;
    }
  }

  private async renderSuspect(wanted: Wanted): Promise<RenderedTemplate> {
    this.refuseWhileResting(wanted);
    return this.suspects.alone(() => this.renderAlone(wanted));
  }

  private async renderAlone(wanted: Wanted): Promise<RenderedTemplate> {
    const { source, variables, owner } = wanted;
    // The one before it may have been the same version.
    this.refuseWhileResting(wanted);
    const task: TemplateTask = { sources: [source], items: [{ source: 0, variables }] };
    let renderings: Rendering[];
    try {
      renderings = (await this.threads.run(owner, () => task)) as Rendering[];
    } catch (failure) {
      this.judge(owner, source.id, failure);
      throw failure;
    }
    // It was not its fault, or not with these variables.
    this.rests.delete(source.id);
    return renderedIn(renderings[0]!);
  }

  private refuseWhileResting({ source }: Wanted): void {
    const rest = this.rests.get(source.id);
    if (rest !== undefined && performance.now() < rest.until) throw rest.failure;
  }

  private judge(owner: string, version: string, failure: unknown): void {
    // Not begun, it has done nothing.
    if (!(failure instanceof RenderingFailed) || failure.reason === 'busy') return;
    this.suspects.judge(owner, failure);
    this.renderAloneForAWhile(owner);
    this.rests.set(version, { failure, until: performance.now() + REST_MS });
  }
}

/** Each version goes along once. */
function taskOf(group: readonly Waiting[]): TemplateTask {
  const indexes = new Map<string, number>();
  const sources: TemplateVersionSource[] = [];
  const items = group.map(({ source, variables }) => {
    let index = indexes.get(source.id);
    if (index === undefined) {
      index = sources.push(source) - 1;
      indexes.set(source.id, index);
    }
    return { source: index, variables };
  });
  return { sources, items };
}

function renderedIn(rendering: Rendering): RenderedTemplate {
  if ('rendered' in rendering) return rendering.rendered;
  throw new RenderingFailed(rendering.reason, rendering.detail);
}
