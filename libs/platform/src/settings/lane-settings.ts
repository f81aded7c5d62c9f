import { MAX_LEASE_MS } from '@posthorn/domain';
import type { CrossValidated } from './read-settings.ts';
import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';

/** The processing of lanes: turns, leases and the clock. */
export class LaneSettings implements CrossValidated {
  @Setting('How many turns a worker serves at once.')
  @IsWholeNumber(1, 500)
  TURN_CONCURRENCY = 20;

  @Setting('The maximum number of rows that a turn claims.')
  @IsWholeNumber(1, 1_000)
  TURN_ROWS = 50;

  @Setting(
    'After how many milliseconds a turn ends even if some of its rows are still in progress, so that one slow row never holds a slot.',
  )
  @IsWholeNumber(10, 30_000)
  TURN_HANDOVER_MS = 250;

  @Setting('How long a lease lasts without being renewed, in milliseconds.')
  @IsWholeNumber(5_000, MAX_LEASE_MS)
  LEASE_MS = 60_000;

  @Setting('How often the leases of a process are renewed, in milliseconds.')
  @IsWholeNumber(500, 300_000)
  LEASE_RENEWAL_MS = 20_000;

  @Setting('No transmission begins if less than this is left of its lease, in milliseconds.')
  @IsWholeNumber(1_000, 300_000)
  LEASE_MARGIN_MS = 30_000;

  @Setting('How long after its end a lease counts as dead, in milliseconds.')
  @IsWholeNumber(1_000, 300_000)
  LEASE_GRACE_MS = 15_000;

  @Setting('How often the clock looks for due work, in milliseconds.')
  @IsWholeNumber(100, 60_000)
  CLOCK_TICK_MS = 1_000;

  /** The options for serving lanes, of `@posthorn/use-cases`. */
  get options() {
    return {
      rowsPerTurn: this.TURN_ROWS,
      handoverMs: this.TURN_HANDOVER_MS,
      leaseMs: this.LEASE_MS,
      renewalMs: this.LEASE_RENEWAL_MS,
      marginMs: this.LEASE_MARGIN_MS,
    };
  }

  faults(): string[] {
    if (this.LEASE_RENEWAL_MS + this.LEASE_MARGIN_MS < this.LEASE_MS) return [];
    return [
      `LEASE_RENEWAL_MS (${this.LEASE_RENEWAL_MS}) and LEASE_MARGIN_MS (${this.LEASE_MARGIN_MS}) together must be ` +
        `less than LEASE_MS (${this.LEASE_MS}); otherwise nothing could be sent just before a renewal`,
    ];
  }
}
