import { Refusal } from '@posthorn/kernel';
import { WORKSPACE_LIMITS } from '@posthorn/domain';
import type { TemplateRefusal } from '@posthorn/database';
import { COOLDOWN_MS, RenderingFailed } from '@posthorn/rendering';

const RETRY_AFTER_SECONDS = 2;

/** The template has syntax errors. */
export function notInTheLanguage(faults: readonly string[]): Refusal {
  return new Refusal(400, faults.join('; '));
}

export function busyRendering(): Refusal {
  return new Refusal(503, 'Too many templates are being rendered right now; send the request again', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

/** The refusal for an error of compiling or rendering a template; rethrows any other error. */
export function renderingRefusal(error: unknown): Refusal {
  if (!(error instanceof RenderingFailed)) throw error;
  if (error.reason === 'busy') return busyRendering();
  if (!error.isLasting)
    return new Refusal(
      503,
      `The template was not rendered: ${error.message}; send the request again, and make the template simpler if that does not help`,
      { retryAfterSeconds: COOLDOWN_MS / 1_000 },
    );
  return new Refusal(
    400,
    `The template cannot be rendered: ${error.message}; make it simpler or give it less`,
  );
}

/** The refusal for a template that was not saved. */
export function notWritten(refusal: Exclude<TemplateRefusal, 'unknown'>, name: string): Refusal {
  switch (refusal) {
    case 'name_taken':
      return new Refusal(
        409,
        `\`name\` is ${JSON.stringify(name)}, which another template of this workspace has; give another name, or change that one`,
      );
    case 'too_many':
      return new Refusal(
        409,
        `The workspace has ${WORKSPACE_LIMITS.templates} templates, the maximum; delete one that is not used any more`,
      );
    case 'changed':
      return new Refusal(
        409,
        'The template was changed by others again and again while this change was made; read it, and change it again',
      );
  }
}

/** The template has only the versions from 1 to the newest, not this one. */
export function noSuchVersion(version: number, newest: number): Refusal {
  return new Refusal(400, `\`version\` is ${version}; the template has the versions 1 to ${newest}`);
}
