/** As many attempts are 51 minutes: time for an operator to bring a key back. */
const ATTEMPTS_THAT_WAIT = 4;

/**
 * Whether an email may leave without the signature of a key that cannot be decrypted. Not at first: receivers may refuse what is unsigned, and
 * whoever runs this may only have started it with the wrong key ring. But late and unsigned is better than never.
 *
 * @param attempts how many were made before
 */
export function mayLeaveUnsigned(attempts: number): boolean {
  return attempts >= ATTEMPTS_THAT_WAIT;
}
