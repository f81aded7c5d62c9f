import type { RetriedQueue } from '@posthorn/domain';
import type { HastenedCounts, OperatorAccount, WaitingRetries } from '@posthorn/database';
import { confirmationNotice, count, facts, faultAlert, forOperators } from '../pages/components.ts';
import { failureClassField } from '../pages/failure-class-field.ts';
import { field, hiddenFields, select } from '../pages/fields.ts';
import { html, type Html } from '../pages/html.ts';
import { type PageWorkspaces, workspaceField } from '../pages/workspaces.ts';
import { WHOSE } from '../pauses/whose.ts';

/** The fields of the form. */
export const RETRY_FIELDS = ['whose', 'workspace', 'domain', 'class'] as const;

interface RetriesPageData {
  readonly waiting: WaitingRetries;
  readonly workspaces: PageWorkspaces;
  readonly account: OperatorAccount;
  readonly filled: Readonly<Record<(typeof RETRY_FIELDS)[number], string | undefined>>;
  /** What the last submission of the form has done. */
  readonly done: HastenedCounts | undefined;
  /** Where that has stopped; undefined: it has searched all. */
  readonly startAt: string | undefined;
  readonly fault?: string | undefined;
}

/** How many retries wait, and the form that hastens them. The page does not reload itself, since that would empty the form. */
export function retriesPage({
  waiting,
  workspaces,
  account,
  filled,
  done,
  startAt,
  fault,
}: RetriesPageData): Html {
  const { byQueue, hasMore } = waiting;
  const waitingIn = (queue: RetriedQueue): string =>
    `${count(byQueue.get(queue) ?? 0)}${hasMore ? ' or more' : ''}`;
  return html`<h1>Retries</h1>
    ${confirmationNotice(done && sentenceFor(done, startAt))}
    ${facts({
      'Emails to be retried': waitingIn('email'),
      'Deliveries to webhooks to be retried': waitingIn('webhook'),
    })}
    <h2>Hasten them</h2>
    ${faultAlert(fault)} ${forOperators(account, hastenForm(filled, workspaces))}
    ${startAt === undefined ? '' : forOperators(account, continueForm(filled, startAt))}
    <p class="quiet">
      What is hastened is due at once, and sent at the pace of its lane; what is paused still waits. Each
      email uses up the step of its schedule that it would have been. The <a href="/audit">audit log</a> has
      who did it.
    </p>`;
}

function sentenceFor(
  { hastened, paused, alreadyDue, inProgress }: HastenedCounts,
  startAt: string | undefined,
): string {
  return [
    hastened === 0 ? 'None waited for a later time.' : `${count(hastened)} are due now.`,
    ...(paused === 0 ? [] : [`${count(paused)} of them are paused, and wait until they are resumed.`]),
    ...(alreadyDue === 0 ? [] : [`${count(alreadyDue)} more were due already.`]),
    ...(inProgress === 0
      ? []
      : [`${count(inProgress)} more are in progress at this moment, and were left alone.`]),
    ...(startAt === undefined ? [] : ['There is more to be searched: continue below.']),
  ].join(' ');
}

function hastenForm(filled: RetriesPageData['filled'], { suggested }: PageWorkspaces): Html {
  return html`<form class="search" method="post" action="/retries">
    ${select('whose', 'What', { texts: WHOSE, value: filled.whose ?? 'workspace' })}
    ${workspaceField(filled.workspace, suggested)}
    ${field('domain', 'To the domain', { value: filled.domain })} ${failureClassField(filled.class)}
    <div><button>Hasten</button></div>
  </form>`;
}

/** Means the same retries as before, whatever is in the other form: a position is of no use to any others. */
function continueForm(filled: RetriesPageData['filled'], startAt: string): Html {
  return html`<form method="post" action="/retries">
    ${hiddenFields({ ...filled, startAt })}
    <button>Continue</button>
  </form>`;
}
