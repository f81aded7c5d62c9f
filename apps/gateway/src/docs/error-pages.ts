import { escapeHtml } from '@posthorn/kernel';

/** A page that `docsUrl` points to. */
interface ErrorPage {
  readonly title: string;
  /** Paragraphs, with code in backticks; and example bodies. */
  readonly parts: readonly (string | object)[];
}

/** The pages that `docsUrl` points to, by the last part of their addresses. */
export const ERROR_PAGES: Readonly<Record<string, ErrorPage>> = {
  'invalid-payload': {
    title: 'The body is not an email that can be sent',
    parts: [
      'The `message` of the error names every field that is wrong and says how to fix it. Fields that are not known are refused, because a misspelt `sendAt` must never send at once.',
      'A raw email needs `from`, `to`, `subject` and `html`:',
      {
        from: 'Shop <hello@example.com>',
        to: 'ada@example.net',
        subject: 'Your order',
        html: '<p>Thank you.</p>',
      },
      'A body with `template` asks for a templated email. It needs `template` and `to`, and `variables` for whatever the template prints without a default; its sender and subject are those of the template:',
      { template: 'order-receipt', to: 'ada@example.net', variables: { orderId: 1001 } },
      'Nothing was accepted: correct the body and send it again. An idempotency key is not used up by an error.',
    ],
  },
  'unverified-sender': {
    title: 'The sender is not verified',
    parts: [
      '`from` must be a verified address of the workspace, or an address on one of its verified domains. A subdomain is a domain of its own: verifying `example.com` does not verify `mail.example.com`.',
      'The error lists what the workspace may send from in `allowedEmails` and `allowedDomains`. Send from one of those, or have another verified, with a key of the role `EDITOR`. For a domain, `POST /v1/identities` answers with the DNS records to set:',
      { domain: 'mail.example.com' },
      'For one address, it sends a mail with a link to it:',
      { address: 'hello@mail.example.com' },
      'Nothing was accepted: send the email again once the sender is `VERIFIED`. An idempotency key is not used up by an error.',
    ],
  },
};

/** The content of a page, as HTML. */
export function errorPageContent({ parts }: ErrorPage): string {
  const shown = parts.map((part) =>
    typeof part === 'string'
      ? `<p>${escapeHtml(part).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`
      : `<pre tabindex="0"><code>${escapeHtml(JSON.stringify(part, null, 2))}</code></pre>`,
  );
  const links =
    '<a href="../../docs">The whole interface</a> – <a href="../errors">The other pages about errors</a>';
  return `${shown.join('')}<p>${links}</p>`;
}
