import type { Sort } from '@posthorn/domain';

/** A stretch of a list: where it begins, how many rows it may look at, and how many it may give. */
export interface Stretch {
  readonly sort: Sort;
  /** The native key of the first row that may be in it. */
  readonly start: string | undefined;
  readonly mostSeen: number;
  readonly mostGiven: number;
}

/** A statement that is made for what is asked, with its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The values of a statement, numbered as they are named. */
export class Values {
  readonly list: unknown[] = [];

  add(value: unknown, type: string): string {
    return `$${this.list.push(value)}::${type}`;
  }
}
