import type { EmailId } from '@posthorn/kernel';
import type { Actor } from './actor.ts';

/** The email that is sent again, who requested that, and why. */
export interface CopiedEmail {
  readonly id: EmailId;
  readonly actor: Actor;
  readonly reason: string;
}
