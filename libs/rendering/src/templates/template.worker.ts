import { analyseTemplate, type TemplateAnalysis } from './analyse-template.ts';
import {
  CompiledTemplates,
  type RenderedTemplate,
  type TemplateVersionSource,
} from './compiled-templates.ts';
import { OutputTooLarge } from './output.ts';
import type { TemplateParts, Variables } from './template-parts.ts';

/** A task of a thread: to analyse a template, or to render versions, each with one or more sets of variables. */
export type TemplateTask =
  | { readonly analyse: TemplateParts }
  | {
      readonly sources: readonly TemplateVersionSource[];
      /** `source` is an index in `sources`. */
      readonly items: readonly { readonly source: number; readonly variables: Variables }[];
    };

/** The outcome and duration of one rendering. */
export type Rendering = { readonly ms: number } & Outcome;

type Outcome =
  | { readonly rendered: RenderedTemplate }
  | { readonly reason: 'too_large' | 'fault'; readonly detail: string };

const compiled = new CompiledTemplates();

/** Runs in a thread of `TemplateRenderer`. Imports only this library by relative paths, so that Node can run it from source and built. */
export default function serve(task: TemplateTask): TemplateAnalysis | Rendering[] {
  if ('analyse' in task) return analyseTemplate(task.analyse);
  return task.items.map(({ source, variables }) => {
    const begunAt = performance.now();
    const outcome = render(task.sources[source]!, variables);
    return { ...outcome, ms: performance.now() - begunAt };
  });
}

function render(source: TemplateVersionSource, variables: Variables): Outcome {
  try {
    return { rendered: compiled.render(source, variables) };
  } catch (error) {
    const reason = error instanceof OutputTooLarge ? 'too_large' : 'fault';
    return { reason, detail: (error as Error).message };
  }
}
