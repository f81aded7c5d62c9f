import { BoundedMap } from '@posthorn/kernel';

/** Memoizes a pure function of a text. @param max maximum number of cached results, first in, first out */
export function memoize<Result extends object | boolean>(
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
