/** Field names of other email services, in lower case without `_` and `-`, and our equivalents. */
const EQUIVALENTS: Readonly<Record<string, string>> = {
  'sender': 'from',
  'fromemail': 'from',
  'fromemailaddress': 'from',
  'recipient': 'to',
  'toemail': 'to',
  'replytolist': 'replyTo',
  'body': 'html',
  'content': 'html',
  'htmlbody': 'html',
  'htmlcontent': 'html',
  'htmlpart': 'html',
  'react': 'html',
  'textbody': 'text',
  'textcontent': 'text',
  'textpart': 'text',
  'h:replyto': 'replyTo',
  'tag': 'groupBy',
  'tags': 'groupBy',
  'category': 'groupBy',
  'categories': 'groupBy',
  'o:tag': 'groupBy',
  'scheduledat': 'sendAt',
  'deliverytime': 'sendAt',
  'o:deliverytime': 'sendAt',
  'templatealias': 'template',
  'templateid': 'template',
  'templatename': 'template',
  'templatemodel': 'variables',
  'templatedata': 'variables',
  'dynamictemplatedata': 'variables',
  't:variables': 'variables',
  'trackopens': 'settings.trackOpens',
  'trackclicks': 'settings.trackClicks',
  'tracklinks': 'settings.trackClicks',
  'o:trackingopens': 'settings.trackOpens',
  'o:trackingclicks': 'settings.trackClicks',
  'unsubscribe': 'settings.unsubscribe',
  'listunsubscribe': 'settings.unsubscribe',
  'asm': 'settings.unsubscribe',
  'topicid': 'settings.unsubscribe',
  'preheader': 'previewText',
  'attachment': 'attachments',
  'files': 'attachments',
  'inline': 'attachments',
};

/** The same for the fields of an attachment. */
const EQUIVALENTS_OF_ATTACHMENTS: Readonly<Record<string, string>> = {
  name: 'filename',
  data: 'content',
  base64content: 'content',
  contentbytes: 'content',
  type: 'contentType',
  mimetype: 'contentType',
  cid: 'contentId',
  inlinecontentid: 'contentId',
};

const ONE_RECIPIENT =
  'is not supported: an email has one recipient; send each their own, up to 50 in a batch';
const NO_PATH =
  'is not supported: Posthorn loads no files; read the file, and give it in base64 as `content`';
const NO_DISPOSITION =
  'is not supported: an attachment with `contentId` is shown in the HTML, any other is only attached; leave it out';
const NO_HEADERS =
  'is not supported: an email has no headers of its own; leave it out, and set `settings.unsubscribe` for a List-Unsubscribe';
const NO_METADATA =
  'is not supported: an email has no metadata; store the id in the answer with your own data';

/** Field names of other email services without an equivalent, and what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  cc: ONE_RECIPIENT,
  bcc: ONE_RECIPIENT,
  personalizations: ONE_RECIPIENT,
  recipientvariables: ONE_RECIPIENT,
  headers: NO_HEADERS,
  inreplyto: NO_HEADERS,
  metadata: NO_METADATA,
  customargs: NO_METADATA,
};

/** The same for the fields of an attachment. */
const UNSUPPORTED_OF_ATTACHMENTS: Readonly<Record<string, string>> = {
  path: NO_PATH,
  url: NO_PATH,
  href: NO_PATH,
  disposition: NO_DISPOSITION,
  contentdisposition: NO_DISPOSITION,
};

/** The beginnings of field names that hold a header or a variable of the caller, as in `h:X-Order` and `v:order`. */
const PREFIXES: Readonly<Record<string, string>> = { 'h:': NO_HEADERS, 'v:': NO_METADATA };

/** The fault of a field name that belongs to another email service; undefined for any other name. @param known our fields of this kind of email */
export function adviceForForeignField(name: string, known: readonly string[]): string | undefined {
  const plain = plainName(name);
  if (Object.hasOwn(UNSUPPORTED, plain)) return UNSUPPORTED[plain];
  const ours = equivalentOf(name);
  if (ours === undefined) return PREFIXES[plain.slice(0, 2)];
  if (!known.includes(ours.split('.')[0]!)) return undefined;
  return `is not a known field; did you mean \`${ours}\`?`;
}

/** The same for a field of an attachment. */
export function adviceForForeignAttachmentField(name: string): string | undefined {
  const plain = plainName(name);
  if (Object.hasOwn(UNSUPPORTED_OF_ATTACHMENTS, plain)) return UNSUPPORTED_OF_ATTACHMENTS[plain];
  if (!Object.hasOwn(EQUIVALENTS_OF_ATTACHMENTS, plain)) return undefined;
  return `is not a known field; did you mean \`${EQUIVALENTS_OF_ATTACHMENTS[plain]}\`?`;
}

/** Our equivalent of a field name of another email service, as a path. */
export function equivalentOf(name: string): string | undefined {
  const plain = plainName(name);
  return Object.hasOwn(EQUIVALENTS, plain) ? EQUIVALENTS[plain] : undefined;
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}
