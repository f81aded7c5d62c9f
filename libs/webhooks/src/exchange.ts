import type { PostFailure } from '@posthorn/domain';
import type { Dispatcher } from 'undici';
import { asFieldText, asText } from './answer-text.ts';
import { exchangeFault, ProtocolViolation } from './fault.ts';
import type { PostAnswer } from './post-request.ts';

const KIB = 1024;
/** Maximum bytes read of a response body before the connection is closed. */
const MAX_BODY_BYTES_READ = 64 * KIB;
/** Maximum bytes of it that are kept. */
const MAX_BODY_BYTES_KEPT = 4 * KIB;
const MAX_FIELDS = 64;
const MAX_FIELD_BYTES = 1 * KIB;
/** Maximum interim responses (1xx) before the final one. */
const MAX_INTERIM_RESPONSES = 16;

/** The result of an exchange, without its duration. */
export type ExchangeResult = Omit<PostAnswer, 'durationMs'> | PostFailure;

/** Reason for an exchange that was aborted by us. */
class GivenUp extends Error {}

/** Receives one response; keeps a bounded part of it, whatever its length. */
export class Exchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private answer: { readonly status: number; readonly fields: Fields } | undefined;
  private kept: Uint8Array = Buffer.alloc(0);
  private read = 0;
  private interim = 0;
  private givenUp: PostFailure | undefined;

  /**
   * @param hasReceived whether any byte was received since this exchange began
   * @param resolve called once with the result
   * @param reject called when the request was invalid, which is a bug of ours
   */
  constructor(
    private readonly hasReceived: () => boolean,
    private readonly resolve: (result: ExchangeResult) => void,
    private readonly reject: (error: Error) => void,
  ) {}

  /** Aborts the exchange; its result is the response if the header was received, otherwise this failure. */
  giveUp(failure: PostFailure): void {
    this.givenUp = failure;
    this.abort(new GivenUp());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.givenUp !== undefined) this.abort(new GivenUp());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, fields: Fields): void {
    if (status >= 200) this.answer = { status, fields };
    else if ((this.interim += 1) > MAX_INTERIM_RESPONSES)
      this.abort(new ProtocolViolation('interim answers (1xx) came without end'));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.kept.length < MAX_BODY_BYTES_KEPT)
      this.kept = Buffer.concat([this.kept, chunk.subarray(0, MAX_BODY_BYTES_KEPT - this.kept.length)]);
    this.read += chunk.length;
    if (this.read > MAX_BODY_BYTES_READ) this.abort(new GivenUp());
  }

  onResponseEnd(): void {
    this.finish();
  }

  onResponseError(_controller: unknown, error: Error): void {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'UND_ERR_INVALID_ARG') this.reject(error);
    else this.finish(error);
  }

  private abort(reason: Error): void {
    this.controller?.abort(reason);
  }

  private finish(error?: Error): void {
    if (this.answer === undefined) this.resolve(this.givenUp ?? exchangeFault(error, this.hasReceived()));
    else this.resolve(this.readAnswer(this.answer));
  }

  private readAnswer({ status, fields }: NonNullable<Exchange['answer']>): ExchangeResult {
    const { 'retry-after': retryAfter } = fields;
    const headers = boundFields(fields);
    const answer = {
      kind: 'answered',
      status,
      headers,
      body: asText(this.kept, MAX_BODY_BYTES_KEPT),
    } as const;
    return retryAfter === undefined ? answer : { ...answer, retryAfter: boundValue(retryAfter) };
  }
}

type Fields = Record<string, string | string[] | undefined>;

function boundFields(fields: Fields): Record<string, string> {
  const names = Object.keys(fields).slice(0, MAX_FIELDS);
  return Object.fromEntries(
    names.map((name) => [asFieldText(name, MAX_FIELD_BYTES), boundValue(fields[name] ?? '')]),
  );
}

function boundValue(value: string | string[]): string {
  return asFieldText(typeof value === 'string' ? value : value.join(', '), MAX_FIELD_BYTES);
}
