import { HtmlToText } from './html-to-text.ts';
import type { ThreadOptions } from './rendering-threads.ts';
import { TemplateRenderer } from './templates/template-renderer.ts';
import { LinkFinder } from './tracking/link-finder.ts';

/** What makes the content of emails in threads. */
export interface Renderers {
  readonly htmlToText: HtmlToText;
  readonly renderer: TemplateRenderer;
  readonly linkFinder: LinkFinder;
}

/** Opens all of them, each with threads of its own, and with these limits. */
export function openRenderers(options: ThreadOptions): Renderers {
  return {
    htmlToText: new HtmlToText(options),
    renderer: new TemplateRenderer(options),
    linkFinder: new LinkFinder(options),
  };
}

/** Terminates the threads of what {@link openRenderers} has opened. */
export async function closeRenderers({ htmlToText, renderer, linkFinder }: Renderers): Promise<void> {
  await Promise.all([htmlToText.close(), renderer.close(), linkFinder.close()]);
}
