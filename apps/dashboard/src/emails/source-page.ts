import { beginningOf, type EmailId } from '@posthorn/kernel';
import type { EmailPreview } from '@posthorn/use-cases';
import { html, type Html } from '../pages/html.ts';
import { count, facts, rawText } from '../pages/components.ts';

/** Browsers are slow with texts of megabytes, such as attachments. */
const MAX_SHOWN = 256 * 1024;

/** The source of an email's message, and its plain text. */
export function sourcePage(id: EmailId, { subject, text, message, bytes, sha256 }: EmailPreview): Html {
  const end = message.indexOf('\r\n\r\n');
  const [head, body] = [message.slice(0, end), message.slice(end + 4)];
  return html`<h1>Source of “<bdi>${subject}</bdi>”</h1>
    <p><a href="/emails/${id}">Back to the email</a></p>
    ${facts({ 'Bytes': count(bytes), 'SHA-256': sha256 })}
    <h2>Headers</h2>
    ${rawText(head)}
    <h2>Body</h2>
    ${shortened(body)}
    <h2>Plain text</h2>
    ${shortened(text)}`;
}

function shortened(text: string): Html {
  const isCut = text.length > MAX_SHOWN;
  return html`${isCut ? html`<p class="quiet">The first ${MAX_SHOWN} characters.</p>` : ''}
  ${rawText(beginningOf(text, MAX_SHOWN))}`;
}
