/** A key that an email is to be signed with cannot be decrypted. */
export class UnsignableEmail extends Error {
  constructor(domain: string, cause: Error) {
    super(`Emails of ${domain} cannot be signed: ${cause.message}`, { cause });
    this.name = 'UnsignableEmail';
  }
}
