import type { TemplateId, WorkspaceId } from '@posthorn/kernel';
import { type Actor, canonicalJson, type JsonObject, type Mailbox } from '@posthorn/domain';
import type { Template, TemplateChanges, TemplateContent, TemplateStore } from '@posthorn/database';
import {
  missingVariables,
  type TemplateAnalysis,
  type TemplateParts,
  type TemplateRenderer,
} from '@posthorn/rendering';
import { notInTheLanguage, notWritten, renderingRefusal } from './template-refusals.ts';

/** How often a change is retried when others have changed the same template meanwhile. */
const MAX_ROUNDS = 5;

/** A template to be saved; sizes, types and addresses are already validated. */
export interface TemplateDraft extends Omit<TemplateContent, 'required'> {
  readonly name: string;
}

/** A change of a template: absent fields are kept, those given as null are removed. */
export interface TemplatePatch {
  readonly name?: string | undefined;
  readonly from?: { readonly address?: string | undefined; readonly name?: string | null | undefined };
  readonly replyTo?: readonly Mailbox[] | undefined;
  readonly parts?: {
    readonly subject?: string | undefined;
    readonly html?: string | undefined;
    readonly text?: string | null | undefined;
    readonly previewText?: string | null | undefined;
  };
  readonly defaults?: JsonObject | undefined;
  readonly unsubscribe?: boolean | undefined;
}

interface SaveTemplateOptions {
  readonly store: Pick<TemplateStore, 'find'>;
  readonly changes: Pick<TemplateChanges, 'create' | 'update'>;
  readonly renderer: Pick<TemplateRenderer, 'analyse'>;
}

/** Saves templates, provided that they compile. */
export class SaveTemplate {
  constructor(private readonly options: SaveTemplateOptions) {}

  /**
   * @throws Refusal 400 for template syntax errors, 409 when the name is taken or the workspace has the maximum, 503 when validating it
   * takes too much time or memory
   */
  async create(workspaceId: WorkspaceId, actor: Actor, { name, ...draft }: TemplateDraft): Promise<Template> {
    const content = await this.validated(workspaceId, draft);
    const created = await this.options.changes.create(workspaceId, actor, { name, content });
    if (typeof created === 'string') throw notWritten(created, name);
    return created;
  }

  /**
   * Changes a template; new content becomes a new version. A change without effect writes nothing.
   *
   * @returns undefined when the workspace has no such template
   * @throws Refusal as {@link create}, and 409 when concurrent changes keep interfering
   */
  async update(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: TemplateId,
    patch: TemplatePatch,
  ): Promise<Template | undefined> {
    for (let round = 1; ; round += 1) {
      const read = await this.options.store.find(workspaceId, id);
      if (read === undefined) return undefined;
      const updated = await this.updateOnce(workspaceId, actor, read, patch);
      if (typeof updated !== 'string') return updated;
      if (updated === 'unknown') return undefined;
      if (updated !== 'changed' || round === MAX_ROUNDS) throw notWritten(updated, patch.name ?? read.name);
    }
  }

  private async updateOnce(workspaceId: WorkspaceId, actor: Actor, read: Template, patch: TemplatePatch) {
    const { name = read.name } = patch;
    const draft = patched(read, patch);
    const saysTheSame = canonicalJson(draft) === canonicalJson(patched(read, {}));
    if (saysTheSame && name === read.name) return read;
    const content = saysTheSame ? {} : { content: await this.validated(workspaceId, draft) };
    return this.options.changes.update(workspaceId, actor, read, { name, ...content });
  }

  private async validated(
    workspaceId: WorkspaceId,
    draft: Omit<TemplateContent, 'required'>,
  ): Promise<TemplateContent> {
    const analysis = await this.analysisOf(workspaceId, draft.parts);
    if ('faults' in analysis) throw notInTheLanguage(analysis.faults);
    return { ...draft, required: missingVariables(analysis.printed, draft.defaults) };
  }

  private async analysisOf(workspaceId: WorkspaceId, parts: TemplateParts): Promise<TemplateAnalysis> {
    try {
      return await this.options.renderer.analyse(parts, workspaceId);
    } catch (error) {
      throw renderingRefusal(error);
    }
  }
}

/** The content of the template after the change. */
function patched(read: Template, patch: TemplatePatch): Omit<TemplateContent, 'required'> {
  const { address = read.from.address, name = read.from.name } = patch.from ?? {};
  const { subject = read.parts.subject, html = read.parts.html } = patch.parts ?? {};
  const { text = read.parts.text, previewText = read.parts.previewText } = patch.parts ?? {};
  return {
    from: { address, ...(name ? { name } : {}) },
    replyTo: patch.replyTo ?? read.replyTo,
    parts: { subject, html, ...(text ? { text } : {}), ...(previewText ? { previewText } : {}) },
    defaults: patch.defaults ?? read.defaults,
    unsubscribe: patch.unsubscribe ?? read.unsubscribe,
  };
}
