import { IsOptional, Matches } from 'class-validator';
import { Setting } from './setting.ts';

/** What all emails say about where they are from. */
export class MessageSettings {
  @Setting(
    "A name of this installation for Gmail's feedback loop, which must never change. With it, all emails have a `Feedback-ID` of the ids of their template and workspace and this name, and DKIM signs it: leave it unset if the relay adds a `Feedback-ID` of its own, as Amazon SES does. `gateway`, `sender` and `dashboard` must have the same value.",
    { example: 'example-mail' },
  )
  @IsOptional()
  @Matches(/^[A-Za-z0-9_-]{5,15}$/)
  FEEDBACK_SENDER_ID?: string;
}
