/** A response that is serialised already, such as a replayed one that must be identical byte for byte. */
export class JsonText {
  constructor(readonly text: string) {}
}
