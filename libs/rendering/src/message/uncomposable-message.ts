/**
 * A value cannot be put into a message: it would end its header line, add a recipient or break the envelope. Permanent; the
 * value should have been refused when the email was accepted.
 */
export class UncomposableMessage extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UncomposableMessage';
  }
}

/** The control characters of Unicode: NUL, CR, LF, tab, DEL, the C1 range and others. */
const CONTROL = /\p{Cc}/u;

/** Throws {@link UncomposableMessage} when the value of the header `name` holds a control character. */
export function refuseControls(name: string, value: string): void {
  if (!CONTROL.test(value)) return;
  throw new UncomposableMessage(`${name} holds a control character; a header value cannot carry one`);
}
