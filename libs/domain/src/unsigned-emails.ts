/** So many attempts take 51 minutes: time for an operator to restore the key. */
const MIN_ATTEMPTS = 4;

/**
 * Whether an email may be sent without a DKIM signature whose key cannot be decrypted. Not at first: receivers may refuse unsigned emails, and
 * the process may only have been started with the wrong key ring. But late and unsigned is better than never.
 *
 * @param attempts how many attempts were made before
 */
export function maySendUnsigned(attempts: number): boolean {
  return attempts >= MIN_ATTEMPTS;
}
