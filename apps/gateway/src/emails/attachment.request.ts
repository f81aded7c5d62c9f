import {
  faultInBase64,
  faultInContentId,
  faultInFilename,
  faultInMediaType,
  SIZES,
  sizeOfBase64,
} from '@posthorn/domain';
import { listOf } from '../validation/object-rules.ts';
import { makeRule, Optional, Required, type Rule } from '../validation/rule.ts';
import { sizeFault } from '../validation/sizes.ts';
import { boundedText, text } from '../validation/text-rules.ts';
import { adviceForForeignAttachmentField } from './foreign-field-names.ts';

/** A file that is sent with an email. */
export class AttachmentRequest {
  @Required(boundedText(SIZES.filename, faultInFilename), 'The name of the file, without a folder.', {
    example: 'invoice-10042.pdf',
  })
  filename!: string;

  @Required(
    text({ minLength: 4, contentEncoding: 'base64' }, faultInBase64, 'give the file in base64'),
    'The file in base64 (RFC 4648, section 4), in one line; all attachments of an email together have up to 7 MiB before encoding.',
    { example: 'JVBERi0xLjQK' },
  )
  content!: string;

  @Optional(
    boundedText(SIZES.mediaType, faultInMediaType),
    'The media type, possibly with parameters; if absent, the one that the extension of the name stands for, or `application/octet-stream`.',
    { example: 'application/pdf' },
  )
  contentType?: string;

  @Optional(
    boundedText(SIZES.contentId, faultInContentId),
    'For an image in the HTML, which refers to it as in `<img src="cid:logo">`; each id once. If absent, the file is only attached.',
  )
  contentId?: string;
}

const files = listOf(AttachmentRequest, SIZES.attachments, adviceForForeignAttachmentField);

/** The attachments of an email; an empty array counts as absent. */
export const attachments: Rule = makeRule(
  files.schema,
  (value, field) => files(value, field) ?? faultInFiles(value as AttachmentRequest[], field),
);

/** The fault of valid files that do not go together. */
function faultInFiles(given: readonly AttachmentRequest[], field: string): string | undefined {
  const bytes = given.reduce((sum, { content }) => sum + sizeOfBase64(content), 0);
  const tooLarge = sizeFault(bytes, SIZES.attachedFiles);
  if (tooLarge !== undefined) return `\`${field}\` ${tooLarge}; link to larger files`;
  const ids = given.map(({ contentId }) => contentId);
  const repeated = ids.findIndex((id, index) => id !== undefined && ids.indexOf(id) < index);
  return repeated < 0
    ? undefined
    : `\`${field}[${repeated}].contentId\` is that of another attachment; give each its own`;
}
