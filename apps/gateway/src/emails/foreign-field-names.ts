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
};

const ONE_RECIPIENT =
  'is not supported: an email has one recipient; send each their own, up to 50 in a batch';
const NO_ATTACHMENTS = 'is not supported: an email has no attachments; link to the file';
const NO_HEADERS =
  'is not supported: an email has no headers of its own; leave it out, and set `settings.unsubscribe` for a List-Unsubscribe';
const NO_METADATA =
  'is not supported: an email has no metadata; store the id in the answer with your own data';

/** Field names of other email services without an equivalent, and what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  attachment: NO_ATTACHMENTS,
  attachments: NO_ATTACHMENTS,
  cc: ONE_RECIPIENT,
  bcc: ONE_RECIPIENT,
  personalizations: ONE_RECIPIENT,
  recipientvariables: ONE_RECIPIENT,
  headers: NO_HEADERS,
  inreplyto: NO_HEADERS,
  metadata: NO_METADATA,
  customargs: NO_METADATA,
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

/** Our equivalent of a field name of another email service, as a path. */
export function equivalentOf(name: string): string | undefined {
  const plain = plainName(name);
  return Object.hasOwn(EQUIVALENTS, plain) ? EQUIVALENTS[plain] : undefined;
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}
