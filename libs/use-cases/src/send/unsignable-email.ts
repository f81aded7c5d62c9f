/** A DKIM key for signing an email cannot be decrypted. */
export class UnsignableEmail extends Error {
  constructor(domain: string, cause: Error) {
    super(`Emails of ${domain} cannot be signed: ${cause.message}`, { cause });
    this.name = 'UnsignableEmail';
  }
}
