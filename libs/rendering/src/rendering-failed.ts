export type RenderingFailure =
  /** So many others wait for a thread that it was not begun. */
  | 'busy'
  /** It took longer than it may. */
  | 'deadline'
  /** It needed more memory than it may have. */
  | 'memory'
  /** What came out of it is larger than it may be. */
  | 'too_large'
  /** What was to be rendered threw, and does so again with the same variables. */
  | 'fault'
  /** The renderer itself gave up: on markup that is nested too deeply, or because its thread ended. */
  | 'crash';

/** What was to be rendered could not be; the process and the threads that render are unharmed. */
export class RenderingFailed extends Error {
  readonly reason: RenderingFailure;

  constructor(reason: RenderingFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.name = 'RenderingFailed';
  }

  /** Whether it would fail so again: what threw or became too large does. All else can be for want of time or memory just now. */
  get isLasting(): boolean {
    return this.reason === 'too_large' || this.reason === 'fault';
  }
}
