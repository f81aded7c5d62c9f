import type { WorkspaceId } from '@posthorn/kernel';
import type { AcceptedEmail } from '../../e2e/api.ts';
import { validEmail } from '../../e2e/stack.ts';

/** An email that a client wanted to send, and what it was told of it. */
export interface WantedEmail {
  readonly workspaceId: WorkspaceId;
  readonly to: string;
  /** Whether its recipient had unsubscribed. */
  readonly isUnwanted: boolean;
  /** Whether accepting it creates its contact. */
  readonly isOfNewContact: boolean;
  readonly subject: string;
  /** `unknown`: an answer was lost. */
  fate: 'accepted' | 'refused' | 'unknown';
  accepted?: Pick<AcceptedEmail, 'id' | 'messageId'>;
  /** Whether a client was told that it is cancelled; undefined: nobody asked for it. */
  isCancelled?: boolean;
}

/** A contact, and the events that its clients have caused, in their order. */
export interface ChangedContact {
  readonly workspaceId: WorkspaceId;
  readonly email: string;
  readonly events: string[];
}

/** What the clients wanted and were told. */
export class History {
  /** By recipient: each email has its own. */
  readonly emails = new Map<string, WantedEmail>();
  /** By address: each client changes its own. */
  readonly contacts = new Map<string, ChangedContact>();
  /** Answers that contradict what was promised. */
  readonly wrong: string[] = [];

  want(
    workspaceId: WorkspaceId,
    to: string,
    { isUnwanted = false, isOfNewContact = false, subject = validEmail().subject } = {},
  ): WantedEmail {
    const email: WantedEmail = { workspaceId, to, isUnwanted, isOfNewContact, subject, fate: 'unknown' };
    this.emails.set(to, email);
    return email;
  }

  contact(workspaceId: WorkspaceId, email: string): ChangedContact {
    const contact = { workspaceId, email, events: [] };
    this.contacts.set(email, contact);
    return contact;
  }
}
