/**
 * Remembers what a pure function has made of its last arguments. Nothing of it can become stale: the same argument has the same
 * result for as long as the process lives.
 *
 * @param most so many results are kept; what came first goes first
 */
export function remembered<Result extends object | boolean>(
  make: (text: string) => Result,
  most: number,
): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    if (results.size >= most) results.delete(results.keys().next().value!);
    const made = make(text);
    results.set(text, made);
    return made;
  };
}
