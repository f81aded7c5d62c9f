/** What was thrown, as an error. Of what is none only the type is told: it could be anything. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error(`a value that is not an Error was thrown: ${typeof thrown}`);
}
