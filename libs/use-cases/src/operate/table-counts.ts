import type { TableCounts } from '@posthorn/database';

/** The counts of tables that had any. */
export function withoutNone(counts: TableCounts): TableCounts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

export function sumOf(counts: TableCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
