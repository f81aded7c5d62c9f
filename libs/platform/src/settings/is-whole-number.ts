import { IsInt, Max, Min } from 'class-validator';

/** Accepts whole numbers from `min` to `max`. */
export function IsWholeNumber(min: number, max: number): PropertyDecorator {
  return (target, property) => {
    // In the order in which decorators below each other run.
    for (const rule of [Max(max), Min(min), IsInt()]) rule(target, property);
  };
}
