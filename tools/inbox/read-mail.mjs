import PostalMime from 'postal-mime';

/** The limit for parsing headers, which is more than any real mail has; a mail with longer ones is stored without being parsed. */
const HEADER_BYTES = 256 * 1024;

/**
 * Elements that make a browser connect to other servers although the content security policy forbids loading: hints (`<link
 * rel="preconnect">`), and frames, for which it prepares a connection before it checks the policy. They are replaced by elements without
 * effect.
 */
const TELLING = /<(?:link|iframe|frame)(?=[\s/>])/gi;

/**
 * What a list shows of a mail. Only the head is parsed, so that a large mail costs no more than a small one.
 *
 * @param {Buffer} source
 * @returns {Promise<{ from: string, to: string, subject: string }>}
 */
export async function readHeaders(source) {
  const end = source.indexOf('\r\n\r\n');
  const head = source.subarray(0, Math.min(end === -1 ? source.length : end + 4, HEADER_BYTES));
  try {
    const mail = await PostalMime.parse(head);
    return { from: show(mail.from ? [mail.from] : []), to: show(mail.to ?? []), subject: mail.subject ?? '' };
  } catch {
    return { from: '', to: '', subject: '(could not be read)' };
  }
}

/** @param {import('postal-mime').Address[]} addresses groups are shown by their name */
function show(addresses) {
  return addresses.map(({ name, address = '' }) => (name ? `${name} <${address}>` : address)).join(', ');
}

/**
 * Parses a mail.
 *
 * @param {Buffer} source
 */
export async function readMail(source) {
  const mail = await PostalMime.parse(source);
  return {
    headers: mail.headerLines.map(({ key, line }) => ({
      name: line.slice(0, line.indexOf(':')) || key,
      value: line.slice(line.indexOf(':') + 1).trim(),
    })),
    html: mail.html,
    text: mail.text,
    attachments: mail.attachments.map(({ filename, mimeType, contentId, content }) => ({
      filename: filename ?? '(no name)',
      mimeType,
      contentId,
      size: typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength,
    })),
  };
}

/**
 * A mail's HTML with its embedded images inlined, and without anything that would tell other servers that it is shown. Links open outside
 * of the page that shows it.
 *
 * @param {Buffer} source
 */
export async function readHtml(source) {
  const mail = await PostalMime.parse(source, { attachmentEncoding: 'base64' });
  const pictures = new Map(
    mail.attachments
      .filter(({ contentId, mimeType }) => contentId && /^image\/[\w.+-]+$/.test(mimeType))
      .map(({ contentId, mimeType, content }) => {
        /** @type {any} The text that was asked for. */
        const base64 = content;
        return [contentId?.replace(/^<|>$/g, ''), `data:${mimeType};base64,${base64}`];
      }),
  );
  const html = (mail.html ?? '')
    .replace(TELLING, '<wbr')
    .replace(/cid:([^"'\s)>]+)/g, (whole, id) => pictures.get(id) ?? whole);
  return `<base target="_blank">${html}`;
}
