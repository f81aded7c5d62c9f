import { MAX_LIMIT_OVERRIDES } from '@posthorn/domain';
import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';

/** What workspaces may send. */
export class AcceptanceSettings {
  @Setting(
    'How many emails a workspace may send in a calendar month (UTC), unless it has its own limit; 0 means no limit. `gateway` and `dashboard` must have the same value.',
  )
  @IsWholeNumber(0, MAX_LIMIT_OVERRIDES.monthlyEmailLimit)
  MONTHLY_EMAIL_LIMIT = 100_000;

  /** That number; null: no limit. */
  get monthlyLimit(): number | null {
    return this.MONTHLY_EMAIL_LIMIT || null;
  }
}
