import { BoundedMap, TimedSet, workerUrl } from '@posthorn/kernel';
import { RenderingFailed } from '../rendering-failed.ts';
import { RenderingThreads, type ThreadOptions } from '../rendering-threads.ts';
import { Quarantine } from '../quarantine.ts';
import type { TemplateAnalysis } from './analyse-template.ts';
import type { RenderedTemplate, TemplateVersionSource } from './compiled-templates.ts';
import type { TemplateParts, Variables } from './template-parts.ts';
import type { Rendering, TemplateTask } from './template.worker.ts';

const MAX_PER_GROUP = 32;
/** Limits the size of a group, because it is copied to the thread and back. */
const MAX_CHARACTERS_PER_GROUP = 1_048_576;
const MAX_COOLDOWNS = 1_000;
/** How long a version that has killed a thread fails at once, and its owner is quarantined: each retry might kill another thread. */
export const COOLDOWN_MS = 30_000;
/** Many times what rendering an email takes. If an owner has a slower one, its renderings are not grouped for a while, so that its turns stay short. */
const SLOW_MS = 100;
const MAX_SLOW = 1_000;
/** How long they are not grouped; longer than the quarantine, so that it also holds afterwards. */
const SLOW_FOR_MS = 60_000;
const WORK = 'rendering the template';

/** The failure of a version, and when it may be rendered again, by the monotonic clock. */
interface Cooldown {
  readonly failure: RenderingFailed;
  readonly until: number;
}

interface RenderRequest {
  readonly source: TemplateVersionSource;
  readonly variables: Variables;
  readonly owner: string;
}

interface Waiting extends RenderRequest {
  readonly resolve: (rendered: RenderedTemplate) => void;
  readonly reject: (failure: unknown) => void;
}

/**
 * Analyses and renders templates in worker threads with limits on time and memory, because a template is an untrusted program.
 *
 * - Owners get threads round robin. Renderings of one owner that wait are grouped into one task, unless the owner was slow recently.
 * - A version that has killed a thread has a cooldown of half a minute, in which it fails at once with the same error; after that it is rendered in quarantine
 *   (one at a time) until it succeeds.
 * - During that half minute everything else of its owner is in quarantine too, because new bad versions can be created faster than they are detected.
 */
export class TemplateRenderer {
  private readonly threads: RenderingThreads<TemplateTask, TemplateAnalysis | Rendering[]>;
  private readonly quarantine = new Quarantine(WORK, COOLDOWN_MS);
  /** By version id. A version whose cooldown is over stays here, and is rendered in quarantine, until it succeeds. */
  private readonly cooldowns = new BoundedMap<string, Cooldown>(MAX_COOLDOWNS);
  private readonly slowOwners = new TimedSet<string>(MAX_SLOW, SLOW_FOR_MS);
  private waiting: Waiting[] = [];

  constructor(options: ThreadOptions = {}) {
    const worker = workerUrl(import.meta.url, 'template.worker');
    this.threads = new RenderingThreads(worker, WORK, options);
  }

  /**
   * As {@link analyseTemplate}, in a thread.
   *
   * @param owner whose template it is, such as a workspace's id; it is held responsible for what the template does to the threads
   * @throws {@link RenderingFailed} when it exceeds the time or memory limit, fails, or too many are waiting
   */
  async analyse(parts: TemplateParts, owner: string): Promise<TemplateAnalysis> {
    return (await this.quarantine.run(this.threads, { analyse: parts }, owner)) as TemplateAnalysis;
  }

  /**
   * Renders a version with these variables, and its defaults for missing ones. Deterministic.
   *
   * @param owner whose template it is, such as a workspace's id; it is held responsible for what the template does to the threads
   * @throws {@link RenderingFailed} when it exceeds the time or memory limit, its output is too large, it fails, or too many are waiting
   */
  render(source: TemplateVersionSource, variables: Variables, owner: string): Promise<RenderedTemplate> {
    const request = { source, variables, owner };
    if (this.cooldowns.has(source.id) || this.quarantine.has(owner)) return this.renderQuarantined(request);
    return new Promise((resolve, reject) => {
      const own = { ...request, resolve, reject };
      this.waiting.push(own);
      void this.renderGroup(own);
    });
  }

  /** Terminates the threads; current and later renderings fail. */
  close(): Promise<void> {
    return this.threads.close();
  }

  /** Every call waits for a thread. The one that gets it renders all waiting requests of its owner in one group, unless its own was in another group before. */
  private async renderGroup(own: Waiting): Promise<void> {
    let group: Waiting[] = [];
    try {
      const renderings = (await this.threads.run(own.owner, () => {
        this.separateQuarantined();
        group = this.takeGroup(own);
        return group.length === 0 ? undefined : taskOf(group);
      })) as Rendering[];
      group.forEach((one, index) => this.settle(one, renderings[index]!));
    } catch (failure) {
      if (group.length === 0) this.rejectWaiting(own, failure);
      else this.retryOneByOne(group, failure);
    }
  }

  /** Rejects a request that could not be rendered, unless another call has rendered it. */
  private rejectWaiting(own: Waiting, failure: unknown): void {
    if (!this.waiting.includes(own)) return;
    this.waiting = this.waiting.filter((one) => one !== own);
    own.reject(failure);
  }

  /** Moves waiting requests of owners that have killed a thread meanwhile into quarantine. */
  private separateQuarantined(): void {
    const { true: quarantined = [], false: others = [] } = Object.groupBy(this.waiting, ({ owner }) =>
      String(this.quarantine.has(owner)),
    );
    this.waiting = others;
    for (const one of quarantined) this.renderQuarantined(one).then(one.resolve, one.reject);
  }

  private takeGroup(own: Waiting): Waiting[] {
    if (!this.waiting.includes(own)) return [];
    const group: Waiting[] = [];
    let characters = 0;
    const seen = new Set<string>();
    for (const one of this.candidatesFor(own)) {
      const { id, parts } = one.source;
      const rendered = parts.html.length + (parts.text?.length ?? 0);
      const size = seen.has(id) ? rendered : rendered * 2;
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

  /** The requests that may be grouped with `own`, which comes first; none of others, who would wait for its owner's slow ones. */
  private candidatesFor(own: Waiting): Waiting[] {
    if (this.slowOwners.has(own.owner)) return [own];
    return [own, ...this.waiting.filter((one) => one !== own && one.owner === own.owner)];
  }

  private settle({ owner, resolve, reject }: Waiting, rendering: Rendering): void {
    if (rendering.ms > SLOW_MS) this.slowOwners.add(owner);
    try {
      resolve(renderedIn(rendering));
    } catch (failure) {
      reject(failure);
    }
  }

  /** After the failure of a group, renders its requests one by one, so that only the culprit fails. */
  private retryOneByOne(group: readonly Waiting[], failure: unknown): void {
    const [{ source, owner, reject }] = group as [Waiting];
    if (group.length === 1) {
      this.noteFailure(owner, source.id, failure);
      reject(failure);
      return;
    }
    this.slowOwners.add(owner);
    void this.renderOneByOne(group);
  }

  /** Renders the requests of one owner, one at a time; in quarantine once the owner is quarantined. */
  private async renderOneByOne(group: readonly Waiting[]): Promise<void> {
    for (const one of group) {
      const isQuarantined = this.quarantine.has(one.owner);
      const rendering = isQuarantined ? this.renderQuarantined(one) : this.renderAlone(one);
      const settled = rendering.then(one.resolve, one.reject);
      // Not awaited in quarantine: requests beyond its capacity are refused at once.
      if (!isQuarantined) await settled;
    }
  }

  private async renderQuarantined(request: RenderRequest): Promise<RenderedTemplate> {
    this.refuseDuringCooldown(request);
    return this.quarantine.runSerially(() => this.renderAlone(request));
  }

  private async renderAlone(request: RenderRequest): Promise<RenderedTemplate> {
    const { source, variables, owner } = request;
    // An earlier request of the same version may have failed meanwhile.
    this.refuseDuringCooldown(request);
    const task: TemplateTask = { sources: [source], items: [{ source: 0, variables }] };
    let renderings: Rendering[];
    try {
      renderings = (await this.threads.run(owner, () => task)) as Rendering[];
    } catch (failure) {
      this.noteFailure(owner, source.id, failure);
      throw failure;
    }
    // The version was not the cause of the failure, or only with other variables.
    this.cooldowns.delete(source.id);
    return renderedIn(renderings[0]!);
  }

  private refuseDuringCooldown({ source }: RenderRequest): void {
    const cooldown = this.cooldowns.get(source.id);
    if (cooldown !== undefined && performance.now() < cooldown.until) throw cooldown.failure;
  }

  private noteFailure(owner: string, version: string, failure: unknown): void {
    // A busy task was never started.
    if (!(failure instanceof RenderingFailed) || failure.reason === 'busy') return;
    this.quarantine.noteFailure(owner, failure);
    this.slowOwners.add(owner);
    this.cooldowns.set(version, { failure, until: performance.now() + COOLDOWN_MS });
  }
}

/** The task for a group, with each version once. */
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
