import type { EmailId, WorkspaceId } from '@posthorn/kernel';
import { type HitKind, isTooSoon, type MachineSign } from './reader.ts';

/** A load of the tracking image of an email, or a click on one of its links. */
export interface Hit {
  readonly emailId: EmailId;
  readonly kind: HitKind;
  readonly at: Date;
  /** Why the request is attributed to a program; undefined: it is not. */
  readonly sign: MachineSign | undefined;
  /** The target of the link; of clicks. */
  readonly url?: string;
}

/** The data of an email that is needed to classify and record its hits. */
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

/** A batch of hits of one email, counted. */
export interface HitTally extends HitCounts {
  readonly email: HitEmail;
  /** When a person first opened it, and first clicked, within the batch. */
  readonly openedAt: Date | null;
  readonly clickedAt: Date | null;
  /** In ascending order of time. */
  readonly hits: readonly Hit[];
}

/** A hit that is recorded in the timeline of its email. */
export interface HitFact {
  readonly hit: Hit;
  readonly email: HitEmail;
  /** Whether it causes an event: it is the first one of a person. */
  readonly triggersEvent: boolean;
}

/** Groups hits by email, and decides finally which of them programs made. Hits of emails that are not in `emails` are ignored. */
export function tallyHits(hits: readonly Hit[], emails: readonly HitEmail[]): HitTally[] {
  const known = new Map(emails.map((email) => [email.emailId, email]));
  return [...Map.groupBy(hits, ({ emailId }) => emailId)].flatMap(([emailId, ofEmail]) => {
    const email = known.get(emailId);
    return email === undefined ? [] : [tallyOf(email, ofEmail)];
  });
}

function tallyOf(email: HitEmail, raw: readonly Hit[]): HitTally {
  const hits = sortedByTime(raw.map((hit) => classified(hit, email)));
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

function classified(hit: Hit, { sentAt, dueAt }: HitEmail): Hit {
  return hit.sign === undefined && isTooSoon(hit.at, sentAt, dueAt) ? { ...hit, sign: 'too_soon' } : hit;
}

function hitsBy(who: 'person' | 'machine', kind: HitKind, hits: readonly Hit[]): Hit[] {
  return hits.filter((hit) => hit.kind === kind && (hit.sign === undefined) === (who === 'person'));
}

/** Hits come in the order in which they were recorded, which can differ from that of their times. */
function sortedByTime(hits: readonly Hit[]): Hit[] {
  return hits.toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

/**
 * The hits to record in the timeline: the first open and the first click of a program, the first open of a person, and the first click of a
 * person on each link (within the batch; the caller skips links that are in the timeline already). All others are only counted.
 *
 * @param counts the totals of the email, this batch included
 */
export function timelineFacts(tally: HitTally, counts: HitCounts): HitFact[] {
  const { email, hits } = tally;
  const isFirst = (count: keyof HitCounts): boolean => tally[count] > 0 && counts[count] === tally[count];
  const links = Map.groupBy(hitsBy('person', 'click', hits), ({ url }) => url);
  const clicked = [...links.values()].map(([hit], n) => ({
    hit: hit!,
    email,
    triggersEvent: n === 0 && isFirst('clicks'),
  }));
  const first = (count: keyof HitCounts, who: 'person' | 'machine', kind: HitKind): HitFact[] =>
    hitsBy(who, kind, isFirst(count) ? hits : [])
      .slice(0, 1)
      .map((hit) => ({ hit, email, triggersEvent: who === 'person' }));
  return [
    ...first('machineOpens', 'machine', 'open'),
    ...first('machineClicks', 'machine', 'click'),
    ...first('opens', 'person', 'open'),
    ...clicked,
  ];
}
