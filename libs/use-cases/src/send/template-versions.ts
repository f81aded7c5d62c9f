import { Coalescer, type TemplateVersionId } from '@posthorn/kernel';
import type { TemplateStore } from '@posthorn/database';
import type { TemplateVersionSource } from '@posthorn/rendering';

const MAX_PER_LOOKUP = 200;
const MAX_CACHED = 500;
const MAX_CACHED_CHARACTERS = 32 * 1_048_576;

/** A cache of template versions. They are immutable, so it is never stale. */
export class TemplateVersions {
  private readonly kept = new Map<TemplateVersionId, TemplateVersionSource>();
  private readonly lookUps: Coalescer<TemplateVersionId, TemplateVersionSource | undefined>;
  private characters = 0;

  constructor(store: Pick<TemplateStore, 'findVersions'>) {
    this.lookUps = new Coalescer({
      serve: (ids) => store.findVersions(ids),
      maxItems: MAX_PER_LOOKUP,
    });
  }

  /** @throws what the database throws; Error for a version that does not exist */
  async find(id: TemplateVersionId): Promise<TemplateVersionSource> {
    const source = this.kept.get(id) ?? (await this.lookUps.add(id));
    if (source === undefined)
      throw new Error('an email is pinned to a version of a template that does not exist');
    this.keep(id, source);
    return source;
  }

  /** Moves the entry to the end: the map is ordered by last use. */
  private keep(id: TemplateVersionId, source: TemplateVersionSource): void {
    if (this.kept.delete(id)) this.characters -= sizeOf(source);
    this.kept.set(id, source);
    this.characters += sizeOf(source);
    for (const [oldest, unused] of this.kept) {
      if (this.kept.size <= MAX_CACHED && this.characters <= MAX_CACHED_CHARACTERS) return;
      this.kept.delete(oldest);
      this.characters -= sizeOf(unused);
    }
  }
}

function sizeOf({ parts }: TemplateVersionSource): number {
  return parts.html.length + (parts.text?.length ?? 0);
}
