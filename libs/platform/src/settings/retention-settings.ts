import { EVENTS_KEPT_DAYS, type Retention, RETENTION_BOUNDS } from '@posthorn/domain';
import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';

/** The retention periods of workspaces that do not override them. */
export class RetentionSettings {
  @Setting(
    'For how many days the content of emails is kept after they were accepted; the content of unsent emails stays. Whole months are deleted, once they ended that many days ago, and at least one.',
  )
  @IsWholeNumber(RETENTION_BOUNDS.contentDays.min, RETENTION_BOUNDS.contentDays.max)
  // Short, because content has links that sign people in or reset passwords, and takes most of the disk.
  RETENTION_CONTENT_DAYS = 30;

  @Setting(
    'The same for emails, with their status and everything that is known about them; their unsubscribe links work as long.',
  )
  @IsWholeNumber(RETENTION_BOUNDS.metadataDays.min, RETENTION_BOUNDS.metadataDays.max)
  RETENTION_METADATA_DAYS = 365;

  @Setting(
    'The same for events, with their deliveries; deliveries that are due, and those exhausted in the last 30 days, stay.',
  )
  @IsWholeNumber(EVENTS_KEPT_DAYS, RETENTION_BOUNDS.eventDays.max)
  RETENTION_EVENT_DAYS = EVENTS_KEPT_DAYS;

  get days(): Retention {
    return {
      contentDays: this.RETENTION_CONTENT_DAYS,
      metadataDays: this.RETENTION_METADATA_DAYS,
      eventDays: this.RETENTION_EVENT_DAYS,
    };
  }
}
