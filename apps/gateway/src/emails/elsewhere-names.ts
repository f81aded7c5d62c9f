/** Fields that emails have at other services, in small letters without `_`, and which of ours stands for each. */
const OURS: Readonly<Record<string, string>> = {
  htmlbody: 'html',
  textbody: 'text',
  body: 'html',
  react: 'html',
  recipient: 'to',
  tag: 'groupBy',
  tags: 'groupBy',
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

/** Those that nothing stands for, and what to do instead. */
const INSTEAD: Readonly<Record<string, string>> = {
  attachments: 'is not possible: an email has no attachments; link to the file',
  cc: ONE_RECIPIENT,
  bcc: ONE_RECIPIENT,
  headers: 'is not possible: an email has no headers of its own; leave it out',
};

/** What is said of a field that emails have at other services; undefined: it is none of these. @param known our fields of this kind of email */
export function knownElsewhere(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replaceAll('_', '');
  if (Object.hasOwn(INSTEAD, plain)) return INSTEAD[plain];
  const ours = Object.hasOwn(OURS, plain) ? OURS[plain]! : undefined;
  if (ours === undefined || !known.includes(ours)) return undefined;
  return `is not a known field; did you mean \`${ours}\`?`;
}
