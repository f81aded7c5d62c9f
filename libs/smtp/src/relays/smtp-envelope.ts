/** The SMTP envelope of a message (RFC 5321, section 3.3): one recipient, bare addresses. */
export interface SmtpEnvelope {
  readonly from: string;
  readonly to: string;
  /** The delivery reports to request if the server offers DSN (RFC 3461); absent: its defaults. */
  readonly reports?: RequestedReports | undefined;
}

/** Delivery reports to the sender of the envelope, with only the headers of the message (RET=HDRS). */
export interface RequestedReports {
  /** Identifies the message in reports: 1 to 100 letters, digits, `_`, `.`, `@` and `-`. */
  readonly envelopeId: string;
  readonly of: readonly ReportedFact[];
}

/** That a recipient cannot be reached, that it takes longer, or that the message was delivered. */
export type ReportedFact = 'FAILURE' | 'DELAY' | 'SUCCESS';
