import type { WorkspaceId } from '@posthorn/kernel';
import type { AcceptedEmail, Answer } from '../../e2e/api.ts';
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
  /** In base64. */
  attachment?: string;
  /** `unknown`: an answer was lost. */
  fate: 'accepted' | 'refused' | 'unknown';
  accepted?: Pick<AcceptedEmail, 'id' | 'messageId'>;
  /** When it was to be sent, if that was not at once. */
  sendAt?: string;
  /** Whether a client was told that it is cancelled; undefined: nobody asked for it. */
  isCancelled?: boolean;
}

/** A contact, and the events that its clients have caused, in their order. */
export interface ChangedContact {
  readonly workspaceId: WorkspaceId;
  readonly email: string;
  readonly events: string[];
}

/** A report about an email. */
interface TakenReport {
  readonly messageId: string;
  readonly kind: string;
}

/** What the clients wanted and were told. */
export class History {
  /** By recipient: each email has its own. */
  readonly emails = new Map<string, WantedEmail>();
  /** By address: each client changes its own. */
  readonly contacts = new Map<string, ChangedContact>();
  /** By id: emails that an operator has sent again, and of which each is a copy. */
  readonly copies = new Map<string, WantedEmail>();
  /** The ids of emails that an operator was told to have moved. */
  readonly moved = new Set<string>();
  /** The reports about mails that a server for returned mail has taken. */
  readonly reports: TakenReport[] = [];
  /** The recipients of mails that something came back about: what else is sent to them may be suppressed. */
  readonly returned = new Set<string>();
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

  /** Notes an answer that should have another status. @returns whether it has one of these */
  expects(answer: Answer, ...statuses: readonly number[]): boolean {
    const isRight = statuses.includes(answer.status);
    if (!isRight) this.wrong.push(`${answer.status}: ${answer.text}`);
    return isRight;
  }

  contact(workspaceId: WorkspaceId, email: string): ChangedContact {
    const contact = { workspaceId, email, events: [] };
    this.contacts.set(email, contact);
    return contact;
  }
}
