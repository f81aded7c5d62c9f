import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type LaneId, type Mailbox } from '@posthorn/domain';

/** An email that is judged as far as it can be without the database. */
export interface AcceptableEmail {
  readonly id: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly type: 'raw';
  readonly status: 'SENT' | 'SCHEDULED';
  readonly from: Mailbox;
  readonly fromDomain: string;
  readonly to: Mailbox;
  readonly replyTo: readonly Mailbox[];
  readonly subject: string;
  readonly messageId: string;
  readonly groupBy?: string | undefined;
  readonly trackClicks: boolean;
  readonly trackOpens: boolean;
  readonly html: string;
  readonly text?: string | undefined;
  readonly previewText?: string | undefined;
  readonly contactProperties?: object | undefined;
  /** Null: now. */
  readonly sendAt: Date | null;
  readonly acceptedAt: Date;
  readonly laneId: LaneId;
  /** About how much memory sending it takes. */
  readonly bytes: number;
  readonly idempotency?: IdempotencyClaim | undefined;
}

/** A key that this email's call wants to be answered under. */
export interface IdempotencyClaim {
  readonly key: string;
  /** SHA-256 of the payload. */
  readonly fingerprint: Buffer;
  /** What the call is answered when it is accepted. */
  readonly answer: string;
  readonly expiresAt: Date;
}

/** The keys of numbered emails, as the statements about keys take them. */
export function keysAsJson(keyed: readonly [number, AcceptableEmail][]): string {
  return JSON.stringify(
    keyed.map(([n, { workspaceId, idempotency }]) => ({
      n,
      workspace_id: uuidOf(workspaceId),
      key: idempotency!.key,
      fingerprint: idempotency!.fingerprint.toString('hex'),
      answer: idempotency!.answer,
      expires_at: idempotency!.expiresAt,
    })),
  );
}

/** Numbered emails, as ACCEPT_EMAILS takes them. */
export function emailsAsJson(emails: readonly [number, AcceptableEmail][]): string {
  return JSON.stringify(
    emails.map(([n, email]) => ({
      n,
      id: uuidOf(email.id),
      workspace_id: uuidOf(email.workspaceId),
      type: email.type,
      status: email.status,
      from_address: email.from.address,
      from_name: email.from.name,
      to_address: email.to.address,
      to_name: email.to.name,
      from_domain: email.fromDomain,
      reply_to: email.replyTo.length > 0 ? email.replyTo : undefined,
      subject: email.subject,
      message_id: email.messageId,
      group_by: email.groupBy,
      track_clicks: email.trackClicks,
      track_opens: email.trackOpens,
      send_at: email.sendAt,
      accepted_at: email.acceptedAt,
      html: email.html,
      text: email.text,
      preview_text: email.previewText,
      lane_id: email.laneId,
      state: email.sendAt === null ? 'ready' : 'waiting',
      due_at: email.sendAt ?? email.acceptedAt,
      bytes: email.bytes,
    })),
  );
}
