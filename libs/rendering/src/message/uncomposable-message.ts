/**
 * A value that must not be put into a message: it would end its header line, name another recipient or break the
 * envelope. Trying again cannot help; whoever accepted the value should have refused it.
 */
export class UncomposableMessage extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UncomposableMessage';
  }
}

/** Everything that Unicode calls a control character: NUL, CR, LF, tab, DEL and the C1 range among them. */
const CONTROL = /\p{Cc}/u;

/** Throws {@link UncomposableMessage} when the value of the header `name` holds a control character. */
export function refuseControls(name: string, value: string): void {
  if (!CONTROL.test(value)) return;
  throw new UncomposableMessage(`${name} holds a control character; a header value cannot carry one`);
}
