/** An answer that is JSON text already, such as a replayed one that must be the same byte for byte. */
export class JsonText {
  constructor(readonly text: string) {}
}
