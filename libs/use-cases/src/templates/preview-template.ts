import { FairConcurrencyLimit, type TemplateId, type WorkspaceId } from '@posthorn/kernel';
import type { JsonObject } from '@posthorn/domain';
import type { Template, TemplateStore } from '@posthorn/database';
import { type HtmlToText, missingVariables, type TemplateRenderer } from '@posthorn/rendering';
import { missingVariablesOf } from '../accept/refusals.ts';
import { type FinalContent, finalContent } from '../send/final-content.ts';
import type { UnsubscribeLinks } from '../unsubscribe/unsubscribe-links.ts';
import { withoutUnsubscribeUrl, withUnsubscribeUrl } from '../unsubscribe/unsubscribe-variable.ts';
import { busyRendering, noSuchVersion, renderingRefusal } from './template-refusals.ts';

/** Few at once, because each may use the largest template, and its output may be as large again, several times over. One workspace waits for its own only. */
const PREVIEWS = { maxConcurrent: 2, maxWaiting: 25, refusal: busyRendering };

interface PreviewTemplateOptions {
  readonly store: Pick<TemplateStore, 'find' | 'findVersion'>;
  readonly renderer: Pick<TemplateRenderer, 'render'>;
  readonly htmlToText: Pick<HtmlToText, 'convert'>;
  readonly unsubscribeLinks: Pick<UnsubscribeLinks, 'example'>;
}

/** The rendered content of an email; the preview text is also in the HTML, hidden. */
interface TemplatePreview extends FinalContent {
  readonly previewText?: string;
}

interface WantedPreview {
  readonly variables: JsonObject;
  /** The number of an earlier version; undefined: the current one. */
  readonly version?: number | undefined;
}

/** Renders an email of a template without sending it. */
export class PreviewTemplate {
  private readonly previews = new FairConcurrencyLimit<WorkspaceId>(PREVIEWS);

  constructor(private readonly options: PreviewTemplateOptions) {}

  /**
   * @param gone aborted when the caller has disconnected: a preview that would have to wait is refused then
   * @returns undefined when the workspace has no such template; the text is always set, derived from the HTML where the template has none
   * @throws Refusal 400 when a variable or the version is missing, or when it cannot be rendered with these variables; 503 when too many
   * are waiting, or when it takes too much time or memory
   */
  preview(
    workspaceId: WorkspaceId,
    id: TemplateId,
    wanted: WantedPreview,
    gone?: AbortSignal,
  ): Promise<TemplatePreview | undefined> {
    return this.previews.run(workspaceId, () => this.make(workspaceId, id, wanted), gone);
  }

  private async make(
    workspaceId: WorkspaceId,
    id: TemplateId,
    { variables, version }: WantedPreview,
  ): Promise<TemplatePreview | undefined> {
    const current = await this.options.store.find(workspaceId, id);
    if (current === undefined) return undefined;
    const template = await this.versionOf(workspaceId, current, version);
    const missing = missingVariables(
      withoutUnsubscribeUrl(template.required, template.unsubscribe),
      variables,
    );
    if (missing.length > 0) throw missingVariablesOf(template.name, missing);
    try {
      return await this.rendered(workspaceId, template, variables);
    } catch (error) {
      throw renderingRefusal(error);
    }
  }

  private async versionOf(
    workspaceId: WorkspaceId,
    current: Template,
    version = current.version,
  ): Promise<Template> {
    if (version === current.version) return current;
    const found = await this.options.store.findVersion(workspaceId, current.id, version);
    if (found !== undefined) return found;
    throw noSuchVersion(version, current.version);
  }

  private async rendered(
    workspaceId: WorkspaceId,
    { versionId, parts, defaults, unsubscribe }: Template,
    variables: JsonObject,
  ): Promise<TemplatePreview> {
    const url = unsubscribe ? this.options.unsubscribeLinks.example : undefined;
    const given = withUnsubscribeUrl(variables, url);
    const rendered = await this.options.renderer.render(
      { id: versionId, parts, defaults },
      given,
      workspaceId,
    );
    return { ...rendered, ...(await finalContent(this.options.htmlToText, workspaceId, rendered)) };
  }
}
