import type { Request } from 'express';
import { shareOf } from '../requests/enter-request.ts';
import { overload } from '../requests/in-flight.ts';
import { BodyChunks } from './body-chunks.ts';
import { bodyTooLarge } from './body-too-large.ts';
import type { UnauthenticatedBodies } from './unauthenticated-bodies.ts';

/** How much of a body is read before its sender is authenticated. More would allow anybody to use up the memory for bodies. */
const MAX_UNAUTHENTICATED_BYTES = 64 * 1024;

interface BodyBounds {
  /** The maximum size, in bytes. */
  readonly max: number;
  /** Called when a long body has begun to arrive: gives its sender, if there is one to charge, or rejects with the answer. */
  readonly admit: () => Promise<string | undefined>;
  /** Of all requests. */
  readonly unauthenticated: UnauthenticatedBodies;
}

/**
 * Receives a body, within the limits. A caller who disconnects gets no answer. Bytes are reserved as they arrive, not by `Content-Length`:
 * otherwise a few connections without a key could announce much, send nothing and block everybody. For the same reason, a request counts as
 * in flight only when its body is complete, and never when it is refused before.
 *
 * @param done called with the body, or with the error
 */
export function receiveBody(
  request: Request,
  { max, admit, unauthenticated }: BodyBounds,
  done: (outcome: unknown) => void,
): void {
  const share = shareOf(request);
  share?.wait();
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > max) return done(bodyTooLarge(max, announced));
  const pieces = new BodyChunks();
  let isAdmitted = false;
  const onData = (piece: Buffer): void => {
    pieces.add(piece);
    const refusal = pieces.bytes > max ? bodyTooLarge(max) : share?.hold(pieces.bytes);
    if (refusal) return stop(refusal);
    if (isAdmitted) return;
    if (pieces.bytes <= MAX_UNAUTHENTICATED_BYTES) return unauthenticated.note(giveUp, pieces.bytes);
    isAdmitted = true;
    forget();
    request.pause();
    admit().then(goOn, stop);
  };
  const goOn = (sender: string | undefined): void => {
    const refusal = sender === undefined ? undefined : share?.assignTo(sender);
    if (refusal) stop(refusal);
    else request.resume();
  };
  const giveUp = (): void => stop(overload('request bodies'));
  const forget = (): void => unauthenticated.forget(giveUp);
  const onEnd = (): void => stop(share?.resume() ?? pieces.whole());
  const stop = (outcome: unknown): void => {
    forget();
    // Released at once, though the sender may continue to send: otherwise several bodies that together exceed the limit would all be refused.
    if (!Buffer.isBuffer(outcome)) share?.drop();
    // The rest is read and discarded.
    request.off('data', onData).off('end', onEnd).resume();
    done(outcome);
  };
  request.on('data', onData).on('end', onEnd).once('close', forget);
}
