import { randomBytes } from 'node:crypto';
import { type Answer, type Api, partIn } from './api.ts';

/** A template, as the API shows it. */
export interface ShownTemplate {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly from: string;
  readonly fromName: string | null;
  readonly subject: string;
  readonly html: string;
  readonly text: string | null;
  readonly previewText: string | null;
  readonly replyTo: readonly string[];
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly requiredVariables: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A valid template with a unique name, with the fields of `change` replaced. */
export function validTemplate(
  change: Record<string, unknown> = {},
): Record<string, unknown> & { name: string } {
  return {
    name: `template-${randomBytes(6).toString('hex')}`,
    subject: 'Hello {{firstName}}',
    html: '<p>Dear {{firstName}}</p>',
    from: 'Shop <shop@example.com>',
    ...change,
  };
}

/** The template of a successful answer. @throws with the answer if it was not successful */
export function templateIn(answer: Answer): ShownTemplate {
  return partIn(answer, 'template');
}

/** Creates a valid template with the fields of `change` replaced. @param key of an editor; default: that of `api` */
export async function createTemplate(
  api: Api,
  change: Record<string, unknown> = {},
  key?: string,
): Promise<ShownTemplate> {
  return templateIn(await api.post('/v1/templates', validTemplate(change), key === undefined ? {} : { key }));
}
