import { MAX_LEASE_MS } from '@posthorn/domain';
import { IsInt, Max, Min } from 'class-validator';
import type { CrossValidated } from './read-settings.ts';
import { Setting } from './setting.ts';

/** The processing of lanes: turns, leases and the clock. */
export class LaneSettings implements CrossValidated {
  @Setting('How many turns a worker serves at once.')
  @IsInt()
  @Min(1)
  @Max(500)
  TURN_CONCURRENCY = 20;

  @Setting('The maximum number of rows that a turn claims.')
  @IsInt()
  @Min(1)
  @Max(1_000)
  TURN_ROWS = 50;

  @Setting(
    'After how many milliseconds a turn ends even if some of its rows are still in progress, so that one slow row never holds a slot.',
  )
  @IsInt()
  @Min(10)
  @Max(30_000)
  TURN_HANDOVER_MS = 250;

  @Setting('How long a lease lasts without being renewed, in milliseconds.')
  @IsInt()
  @Min(5_000)
  @Max(MAX_LEASE_MS)
  LEASE_MS = 60_000;

  @Setting('How often the leases of a process are renewed, in milliseconds.')
  @IsInt()
  @Min(500)
  @Max(300_000)
  LEASE_RENEWAL_MS = 20_000;

  @Setting('No transmission begins if less than this is left of its lease, in milliseconds.')
  @IsInt()
  @Min(1_000)
  @Max(300_000)
  LEASE_MARGIN_MS = 30_000;

  @Setting('How long after its end a lease counts as dead, in milliseconds.')
  @IsInt()
  @Min(1_000)
  @Max(300_000)
  LEASE_GRACE_MS = 15_000;

  @Setting('How often the clock looks for due work, in milliseconds.')
  @IsInt()
  @Min(100)
  @Max(60_000)
  CLOCK_TICK_MS = 1_000;

  faults(): string[] {
    if (this.LEASE_RENEWAL_MS + this.LEASE_MARGIN_MS < this.LEASE_MS) return [];
    return [
      `LEASE_RENEWAL_MS (${this.LEASE_RENEWAL_MS}) and LEASE_MARGIN_MS (${this.LEASE_MARGIN_MS}) together must be ` +
        `less than LEASE_MS (${this.LEASE_MS}); otherwise nothing could be sent just before a renewal`,
    ];
  }
}
