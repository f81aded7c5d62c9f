/** The environment in which a program's wall clock is wrong by so many seconds; its monotonic clock and its timers are not. */
export function wrongClock(seconds: number): { readonly NODE_OPTIONS: string } {
  const program = `const Real = Date; globalThis.Date = class extends Real {
    constructor(...given) { super(...(given.length ? given : [Date.now()])); }
    static now() { return Real.now() + ${seconds * 1_000}; }
  };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}
