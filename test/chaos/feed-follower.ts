import type { Page } from '@posthorn/domain';
import type { Answer } from '../e2e/api.ts';

export interface FeedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: { readonly email?: { readonly id: string }; readonly contact?: { readonly email: string } };
}

interface FeedPage extends Page<FeedEvent> {
  readonly resumeAt: string;
}

/** Reads the event feed of a workspace from its beginning, and goes on where it ended. */
export class FeedFollower {
  readonly events: FeedEvent[] = [];
  private place: string | undefined;

  constructor(private readonly get: (path: string) => Promise<Answer>) {}

  /** Reads what is there by now. */
  async readOn(): Promise<void> {
    for (let hasMore = true; hasMore;) {
      const query = this.place === undefined ? '' : `?startAt=${this.place}`;
      const page = (await this.get(`/v1/events${query}`)).body['events'] as FeedPage;
      this.events.push(...page.items);
      ({ hasMore } = page);
      this.place = hasMore ? page.startAt! : page.resumeAt;
    }
  }
}
