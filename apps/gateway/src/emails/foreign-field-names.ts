/** Field names of other email services, in lower case without `_`, and our equivalents. */
const EQUIVALENTS: Readonly<Record<string, string>> = {
  htmlbody: 'html',
  textbody: 'text',
  body: 'html',
  react: 'html',
  recipient: 'to',
  tag: 'groupBy',
  tags: 'groupBy',
  category: 'groupBy',
  categories: 'groupBy',
  scheduledat: 'sendAt',
  deliverytime: 'sendAt',
  templatealias: 'template',
  templateid: 'template',
  templatename: 'template',
  templatemodel: 'variables',
  templatedata: 'variables',
  dynamictemplatedata: 'variables',
  trackopens: 'settings',
  tracklinks: 'settings',
  preheader: 'previewText',
};

const ONE_RECIPIENT = 'is not possible: an email has one recipient; send each their own, up to 50 in a batch';
const NO_ATTACHMENTS = 'is not possible: an email has no attachments; link to the file';
const NO_METADATA =
  'is not possible: an email has no metadata; store the id in the answer with your own data';

/** Field names of other email services without an equivalent, and what to do instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  attachment: NO_ATTACHMENTS,
  attachments: NO_ATTACHMENTS,
  cc: ONE_RECIPIENT,
  bcc: ONE_RECIPIENT,
  headers: 'is not possible: an email has no headers of its own; leave it out',
  metadata: NO_METADATA,
  customargs: NO_METADATA,
};

/** The fault of a field name that belongs to another email service; undefined for any other name. @param known our fields of this kind of email */
export function adviceForForeignField(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replaceAll('_', '');
  if (Object.hasOwn(UNSUPPORTED, plain)) return UNSUPPORTED[plain];
  const ours = Object.hasOwn(EQUIVALENTS, plain) ? EQUIVALENTS[plain]! : undefined;
  if (ours === undefined || !known.includes(ours)) return undefined;
  return `is not a known field; did you mean \`${ours}\`?`;
}
