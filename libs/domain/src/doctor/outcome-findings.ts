import { advice, fault, type Finding, good } from './finding.ts';

/** What workers have counted lately: outcomes of attempts to send (`email`), and replies of relays by class (`reply`). */
export interface CountedOutcome {
  readonly what: string;
  readonly label: string;
  readonly count: number;
}

/** Fewer say nothing. This and the first two shares are those of the alerts PosthornMostEmailsFail and PosthornManyDelays. */
const ENOUGH = 20;
const MOST_FAIL = 0.5;
const MOST_DEFERRED = 0.8;
/** A relay at its limit says "too fast" to about a tenth of the attempts (decision 52). */
const THROTTLED = 0.05;

/** Judges the outcomes of the last ten minutes. What a relay defers waits for its next attempt, so it does not count as due. */
export function judgeOutcomes(counted: readonly CountedOutcome[]): Finding {
  const sum = (what: string, ...labels: string[]): number =>
    counted
      .filter((one) => one.what === what && labels.includes(one.label))
      .reduce((total, { count }) => total + count, 0);
  const failed = sum('email', 'failed');
  const ended = failed + sum('email', 'sent', 'bounced');
  const deferred = sum('email', 'delayed', 'reply_lost');
  const attempts = ended + deferred;
  const tooFast = sum('reply', 'rate_limited');
  const found =
    `of ${attempts} attempts to send in the last ten minutes ${failed} failed and ${deferred} were deferred` +
    (tooFast > 0 ? `, ${tooFast} of them because emails arrive too fast` : '');

  if (ended > ENOUGH && failed / ended > MOST_FAIL)
    return fault(
      `most emails fail, and are not retried: ${found}`,
      'pause them, and see docs/runbooks/many-bounces.md',
    );
  if (attempts > ENOUGH && deferred / attempts > MOST_DEFERRED)
    return fault(`the relay defers most emails: ${found}`, 'see docs/runbooks/many-delays.md');
  if (tooFast > ENOUGH && tooFast / attempts > THROTTLED)
    return advice(
      `the relay throttles, so emails are sent at the rate that it accepts: ${found}`,
      'if they wait for too long, ask its operator for a higher rate, since more senders do not help; see docs/runbooks/many-delays.md',
    );
  return good(found);
}
