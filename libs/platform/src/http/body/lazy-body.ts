/** A body that is computed once, when it is first accessed; an error is kept as well. */
export class LazyBody {
  private made: { readonly body: unknown } | { readonly fault: unknown } | undefined;

  constructor(private readonly make: () => unknown) {}

  /** @throws the error of the computation, at each access */
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
