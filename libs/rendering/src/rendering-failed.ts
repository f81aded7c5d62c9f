export type RenderingFailure =
  /** It was not begun, because too many were waiting for a thread, or none started in time. */
  | 'busy'
  /** It exceeded the time limit. */
  | 'deadline'
  /** It exceeded the memory limit. */
  | 'memory'
  /** Its output exceeded the size limit. */
  | 'too_large'
  /** The template threw an error, and does so again with the same variables. */
  | 'fault'
  /** The renderer itself failed: the markup is nested too deeply, or its thread ended. */
  | 'crash';

/** A rendering or conversion failed; the process and its other threads are not affected. */
export class RenderingFailed extends Error {
  constructor(
    readonly reason: RenderingFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'RenderingFailed';
  }

  /** Whether it is permanent: errors of the template and too much output are. Others can be due to the load of the machine. */
  get isLasting(): boolean {
    return this.reason === 'too_large' || this.reason === 'fault';
  }
}
