import { FIRST_ID, parseId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  emailLanes,
  FAILURE_CLASSES,
  type FailureClass,
  type JsonObject,
  type LaneId,
  parseMailDomain,
  webhookLane,
  workspaceOfLane,
} from '@posthorn/domain';
import {
  type AuditedChange,
  type HastenedCounts,
  ofSystem,
  type RetryFilter,
  type RetryStore,
  type WebhookSearchStore,
  type WorkspaceStore,
} from '@posthorn/database';
import { requireValid } from '../require-valid.ts';
import { isWhole, type Whose } from './pause-sending.ts';
import { requireWorkspace } from './require-workspace.ts';

/** Few enough for a transaction to end within a second. */
const ROWS_PER_GROUP = 2_000;

/** Whose retries are meant. */
export interface RetriesOf extends Pick<RetryFilter, 'queue' | 'lanes'> {
  readonly whose: Whose | LaneId;
  /** In whose audit log it is recorded; undefined: in that of the system. */
  readonly workspaceId?: WorkspaceId | undefined;
}

/** Which of these are meant; absent values mean any. Only for emails. */
interface WantedRetries {
  /** The domain of the recipient. */
  readonly domain?: string | undefined;
  /** Why the last attempt failed: one of {@link FAILURE_CLASSES}. */
  readonly class?: string | undefined;
}

interface HastenOptions {
  /** Called after each group with the number of rows searched so far. */
  readonly onProgress?: (searched: number) => void;
  /** After so many milliseconds no further group is begun. Default: any time. */
  readonly withinMs?: number;
  /** The `next` of an earlier run. Default: the beginning. */
  readonly startAt?: string | undefined;
}

/** What has become of retries. */
export interface HastenedRetries extends HastenedCounts {
  readonly whose: Whose | LaneId;
  /** Where to continue (a UUID); undefined: all have been searched. */
  readonly next: string | undefined;
}

/** The retries of emails of one workspace or of all, or of all deliveries to webhooks. */
export function retriesOf(whose: Whose): RetriesOf {
  if (isWhole(whose)) return { whose, queue: whose === 'emails' ? 'email' : 'webhook' };
  return { whose, queue: 'email', lanes: emailLanes(whose), workspaceId: whose };
}

/**
 * The retries in one lane.
 *
 * @throws Refusal 400 when this is not a lane in which anything is retried, 404 when there is no such workspace or webhook
 */
export async function retriesOfLane(
  {
    workspaces,
    webhooks,
  }: {
    readonly workspaces: Pick<WorkspaceStore, 'find'>;
    readonly webhooks: Pick<WebhookSearchStore, 'find'>;
  },
  text: string,
): Promise<RetriesOf> {
  const webhookId = parseId('wh', text);
  if (webhookId !== undefined) {
    const webhook = await webhooks.find(webhookId);
    if (webhook === undefined) throw new Refusal(404, `There is no webhook ${webhookId}`);
    const lane = webhookLane(webhookId);
    return { whose: lane, queue: 'webhook', lanes: [lane], workspaceId: webhook.workspaceId };
  }
  const owner = workspaceOfLane(text as LaneId);
  const lane = owner && emailLanes(owner).find((each) => each === text);
  if (owner === undefined || lane === undefined)
    throw new Refusal(
      400,
      '`lane` is none in which anything is retried; give one such as wrk_….retry (single emails), wrk_….bulk (batches and scheduled emails) or wh_… (deliveries to a webhook)',
    );
  const { id } = await requireWorkspace(workspaces, owner);
  return { whose: lane, queue: 'email', lanes: [lane], workspaceId: id };
}

/**
 * Makes retries due now that wait for a later time, such as after an outage of a relay. They are sent at the pace of their lanes, and not while they are paused. Each
 * uses up the step of its schedule that it would have been, but however often it is hastened, none gets further ahead than that. Safe to interrupt, to run twice, and to
 * run while the apps do. If there are any, the audit log has an entry from the transaction of the first of them, so that an interrupted run is recorded too, and one
 * from the end.
 *
 * @throws Refusal (400) for an invalid domain or class, or one of these for deliveries
 */
export async function hastenRetries(
  store: Pick<RetryStore, 'hastenNext' | 'record'>,
  { whose, workspaceId, ...retries }: RetriesOf,
  actor: Actor,
  wanted: WantedRetries = {},
  {
    onProgress = () => undefined,
    withinMs = Number.POSITIVE_INFINITY,
    startAt = FIRST_ID,
  }: HastenOptions = {},
): Promise<HastenedRetries> {
  const filter: RetryFilter = { ...retries, ...validated(retries, wanted) };
  const changeOf = (detail: JsonObject): AuditedChange =>
    audited(actor, { whose, workspaceId }, { ...shown(wanted), ...detail });
  const deadline = performance.now() + withinMs;
  const counts = { hastened: 0, paused: 0, alreadyDue: 0, inProgress: 0 };
  let searched = 0;
  let next: string | undefined = startAt;
  do {
    const change = counts.hastened === 0 ? changeOf({ begun: true }) : undefined;
    const group = await store.hastenNext(filter, next, ROWS_PER_GROUP, change);
    for (const name of ['hastened', 'paused', 'alreadyDue', 'inProgress'] as const)
      counts[name] += group[name];
    onProgress((searched += group.looked));
    next = group.next;
  } while (next !== undefined && performance.now() < deadline);
  if (counts.hastened > 0) await store.record(changeOf({ hastened: counts.hastened }));
  return { whose, ...counts, next };
}

function validated(
  { queue }: Pick<RetryFilter, 'queue'>,
  wanted: WantedRetries,
): Pick<RetryFilter, 'domain' | 'failureClass'> {
  const { domain, class: failureClass } = wanted;
  const given = Object.entries(wanted).find(([, value]) => value !== undefined);
  if (queue === 'webhook' && given !== undefined)
    throw new Refusal(
      400,
      `\`${given[0]}\` is known of emails only; leave it out for deliveries to webhooks`,
    );
  if (failureClass !== undefined && !Object.hasOwn(FAILURE_CLASSES, failureClass))
    throw new Refusal(400, `\`class\` must be one of ${Object.keys(FAILURE_CLASSES).join(', ')}`);
  return {
    domain: domain === undefined ? undefined : requireValid('domain', parseMailDomain(domain)).domain,
    failureClass: failureClass as FailureClass | undefined,
  };
}

/** What was given of it. */
function shown({ domain, class: failureClass }: WantedRetries): JsonObject {
  return {
    ...(domain !== undefined && { domain }),
    ...(failureClass !== undefined && { class: failureClass }),
  };
}

function audited(
  actor: Actor,
  { whose, workspaceId }: Pick<RetriesOf, 'whose' | 'workspaceId'>,
  detail: JsonObject,
): AuditedChange {
  if (workspaceId === undefined)
    return ofSystem('sending.retries_hastened', actor, { queue: whose, ...detail });
  const lane = whose === workspaceId ? {} : { lane: whose };
  return {
    workspaceId,
    subjectId: workspaceId,
    actor,
    action: 'workspace.retries_hastened',
    detail: { ...lane, ...detail },
  };
}
