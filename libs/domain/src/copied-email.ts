import type { EmailId } from '@posthorn/kernel';
import type { Actor } from './actor.ts';

/** Which email another one repeats, who asked for that, and why. */
export interface CopiedEmail {
  readonly id: EmailId;
  readonly actor: Actor;
  readonly reason: string;
}
