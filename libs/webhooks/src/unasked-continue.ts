const CONTINUE = 'HTTP/1.1 100 ';
const END_OF_HEADER = '\r\n\r\n';

/** What was received of an answer, without the `100 Continue`s that it begins with. */
export interface Beginning {
  readonly bytes: Buffer;
  /** Whether another `100 Continue` may still follow: the bytes are too few to tell, or one that is not complete. */
  readonly isOpen: boolean;
}

/**
 * Drops each `100 Continue` that an answer begins with. Nobody has asked for one, but some old servers send it, and every client has to
 * ignore it (RFC 9110, section 15.2); undici treats it as an error.
 *
 * @param maxHeaderBytes what is longer than that is passed on as it is, for undici to refuse
 */
export function withoutContinue(received: Buffer, maxHeaderBytes: number): Beginning {
  let bytes = received;
  for (;;) {
    const beginning = bytes.toString('latin1', 0, CONTINUE.length);
    if (beginning !== CONTINUE) return { bytes, isOpen: CONTINUE.startsWith(beginning) };
    const end = bytes.indexOf(END_OF_HEADER);
    if (end === -1) return { bytes, isOpen: bytes.length <= maxHeaderBytes };
    bytes = bytes.subarray(end + END_OF_HEADER.length);
  }
}
