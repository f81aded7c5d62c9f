import { Coalescer, LruCache, type TemplateId, type TemplateVersionId } from '@posthorn/kernel';
import { type JsonObject, parseJson } from '@posthorn/domain';
import type { StoredVersionSource, TemplateStore } from '@posthorn/database';
import type { TemplateVersionSource } from '@posthorn/rendering';

/** A version for rendering, and whose it is. */
interface FoundVersion extends TemplateVersionSource {
  readonly templateId: TemplateId;
}

const MAX_PER_LOOKUP = 200;
const MAX_CACHED = 500;
const MAX_CACHED_CHARACTERS = 32 * 1_048_576;

/**
 * A cache of template versions. They are immutable, so it is never stale. Their defaults are kept as JSON text: parsed, they may take a dozen times as much
 * memory.
 */
export class TemplateVersions {
  private readonly kept = new LruCache<TemplateVersionId, StoredVersionSource>(MAX_CACHED, {
    maxSize: MAX_CACHED_CHARACTERS,
    sizeOf: charactersOf,
  });
  private readonly lookUps: Coalescer<TemplateVersionId, StoredVersionSource | undefined>;

  constructor(store: Pick<TemplateStore, 'findVersions'>) {
    this.lookUps = new Coalescer({
      serve: (ids) => store.findVersions(ids),
      maxItems: MAX_PER_LOOKUP,
    });
  }

  /** @throws what the database throws; Error for a version that does not exist */
  async find(id: TemplateVersionId): Promise<FoundVersion> {
    const stored = this.kept.get(id) ?? (await this.lookUp(id));
    return { ...stored, defaults: parseJson(stored.defaults) as JsonObject };
  }

  private async lookUp(id: TemplateVersionId): Promise<StoredVersionSource> {
    const stored = await this.lookUps.add(id);
    if (stored === undefined)
      throw new Error('an email is pinned to a version of a template that does not exist');
    this.kept.set(id, stored);
    return stored;
  }
}

/** The length of everything that is kept of a version. */
function charactersOf({ parts, defaults }: StoredVersionSource): number {
  const { subject, html, text = '', previewText = '' } = parts;
  return subject.length + html.length + text.length + previewText.length + defaults.length;
}
