import type { Logger } from '@posthorn/platform';

/** Logs what a tick of the clock has found, if anything. */
export function logTick(
  logger: Logger,
  { madeReady, revived, givenUp, lanes }: Record<'madeReady' | 'revived' | 'givenUp' | 'lanes', number>,
): void {
  if (revived > 0) logger.warn({ revived }, 'rows that dead workers held are ready again');
  if (givenUp > 0)
    logger.error({ givenUp }, 'emails or deliveries were given up: every worker that claimed them died');
  // Once a second while emails fall due, which is normal: it says nothing to an operator who is not looking for a fault.
  if (madeReady > 0) logger.debug({ madeReady, lanes }, 'rows fell due');
}
