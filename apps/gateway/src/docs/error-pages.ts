/** The pages that `docsUrl` points to. */
export const ERROR_PAGES: Readonly<
  Record<string, { readonly title: string; readonly paragraphs: readonly string[] }>
> = {
  'invalid-payload': {
    title: 'The body is no email that can be sent',
    paragraphs: [
      'A body with template asks for a templated email: template and to are required, and variables for whatever the template prints without a default. Any other body asks for a raw email: from, to, subject and html are required.',
      'The message of the error names every field that is wrong and says how to mend it. Fields that are not known are refused, because a misspelt sendAt must never send at once.',
      'Nothing was accepted: mend the body and send it again. An idempotency key is not used up by an error.',
    ],
  },
  'unverified-sender': {
    title: 'The sender is not verified',
    paragraphs: [
      'from must be a verified address of the workspace, or an address on one of its verified domains. A subdomain is a domain of its own: verifying example.com does not verify mail.example.com.',
      'The error lists what the workspace may send from in allowedEmails and allowedDomains.',
      'Nothing was accepted. Send from one of those, or have the address or domain verified first: POST /v1/identities with an address sends a mail with a link to it, with a domain it answers with the DNS records to set.',
    ],
  },
};
