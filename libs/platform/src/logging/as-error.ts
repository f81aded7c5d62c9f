/** What was thrown, as an error. If it was not one, only its type is named: it could contain anything. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error(`a value that is not an Error was thrown: ${typeof thrown}`);
}
