import type { EmailId, WorkspaceId } from '@posthorn/kernel';
import { type HitKind, isTooSoon, type MachineSign } from './reader.ts';

/** That the image of an email was loaded, or that one of its links was followed. */
export interface Hit {
  readonly emailId: EmailId;
  readonly kind: HitKind;
  readonly at: Date;
  /** By what the request showed that a program made it; undefined: by nothing. */
  readonly sign: MachineSign | undefined;
  /** Where the link led; of clicks. */
  readonly url?: string;
}

/** What has to be known of an email to judge who opened it. */
export interface HitEmail {
  readonly emailId: EmailId;
  readonly workspaceId: WorkspaceId;
  readonly groupBy: string | null;
  readonly sentAt: Date | null;
  readonly dueAt: Date;
}

/** How often an email was opened and clicked, by people and by programs. */
export interface HitCounts {
  readonly opens: number;
  readonly clicks: number;
  readonly machineOpens: number;
  readonly machineClicks: number;
}

/** What came to an email together. */
export interface HitTally extends HitCounts {
  readonly email: HitEmail;
  /** When a person first opened it, and first clicked; of what came together. */
  readonly openedAt: Date | null;
  readonly clickedAt: Date | null;
  /** The earliest first. */
  readonly hits: readonly Hit[];
}

/** A hit that the timeline of its email tells of. */
export interface HitFact {
  readonly hit: Hit;
  readonly email: HitEmail;
  /** Whether a webhook is told of it: it is the first one of a person. */
  readonly isTold: boolean;
}

/** What came to each email, with the last word on who it was. Hits of emails that are not among `emails` are passed over. */
export function tallyHits(hits: readonly Hit[], emails: readonly HitEmail[]): HitTally[] {
  const known = new Map(emails.map((email) => [email.emailId, email]));
  return [...Map.groupBy(hits, ({ emailId }) => emailId)].flatMap(([emailId, ofEmail]) => {
    const email = known.get(emailId);
    return email === undefined ? [] : [tallyOf(email, ofEmail)];
  });
}

function tallyOf(email: HitEmail, raw: readonly Hit[]): HitTally {
  const hits = inTime(raw.map((hit) => judged(hit, email)));
  const opens = hitsBy('person', 'open', hits);
  const clicks = hitsBy('person', 'click', hits);
  return {
    email,
    opens: opens.length,
    clicks: clicks.length,
    machineOpens: hitsBy('machine', 'open', hits).length,
    machineClicks: hitsBy('machine', 'click', hits).length,
    openedAt: opens[0]?.at ?? null,
    clickedAt: clicks[0]?.at ?? null,
    hits,
  };
}

function judged(hit: Hit, { sentAt, dueAt }: HitEmail): Hit {
  return hit.sign === undefined && isTooSoon(hit.at, sentAt, dueAt) ? { ...hit, sign: 'too_soon' } : hit;
}

function hitsBy(who: 'person' | 'machine', kind: HitKind, hits: readonly Hit[]): Hit[] {
  return hits.filter((hit) => hit.kind === kind && (hit.sign === undefined) === (who === 'person'));
}

/** Hits come in the order in which they were written down, which need not be that of their times. */
function inTime(hits: readonly Hit[]): Hit[] {
  return hits.toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

/**
 * What is worth a line in the timeline: the first open and the first click of a program, the first open of a person, and the first click of a
 * person on each link (whether that was told of before is the timeline's to say). Everything else is a number.
 *
 * @param counts what the email came to with this tally
 */
export function factsOf(tally: HitTally, counts: HitCounts): HitFact[] {
  const { email, hits } = tally;
  const isFirst = (count: keyof HitCounts): boolean => tally[count] > 0 && counts[count] === tally[count];
  const links = Map.groupBy(hitsBy('person', 'click', hits), ({ url }) => url);
  const clicked = [...links.values()].map(([hit], n) => ({
    hit: hit!,
    email,
    isTold: n === 0 && isFirst('clicks'),
  }));
  const first = (count: keyof HitCounts, who: 'person' | 'machine', kind: HitKind): HitFact[] =>
    hitsBy(who, kind, isFirst(count) ? hits : [])
      .slice(0, 1)
      .map((hit) => ({ hit, email, isTold: who === 'person' }));
  return [
    ...first('machineOpens', 'machine', 'open'),
    ...first('machineClicks', 'machine', 'click'),
    ...first('opens', 'person', 'open'),
    ...clicked,
  ];
}
