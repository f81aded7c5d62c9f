/** A body that is made when it is first asked for: once, and its fault too. */
export class LazyBody {
  private made: { readonly body: unknown } | { readonly fault: unknown } | undefined;

  constructor(private readonly make: () => unknown) {}

  /** @throws what making it threw, each time */
  get(): unknown {
    this.made ??= this.outcome();
    if ('fault' in this.made) throw this.made.fault;
    return this.made.body;
  }

  private outcome(): { body: unknown } | { fault: unknown } {
    try {
      return { body: this.make() };
    } catch (fault) {
      return { fault };
    }
  }
}
