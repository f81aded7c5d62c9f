import { BoundedMap } from '@posthorn/kernel';

/**
 * Remembers what a pure function has made of its last arguments. Nothing of it can become stale: the same argument has the same
 * result for as long as the process lives.
 *
 * @param max so many results are kept; what came first goes first
 */
export function remembered<Result extends object | boolean>(
  make: (text: string) => Result,
  max: number,
): (text: string) => Result {
  const results = new BoundedMap<string, Result>(max);
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const made = make(text);
    results.set(text, made);
    return made;
  };
}
