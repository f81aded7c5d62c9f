/** Numbers of rows by table. */
export type TableCounts = Record<string, number>;

/** Adds numbers of rows, by table. */
export function addCounts(to: TableCounts, counts: TableCounts): void {
  for (const [table, count] of Object.entries(counts)) to[table] = (to[table] ?? 0) + count;
}

/** The counts of tables that had any. */
export function withoutNone(counts: TableCounts): TableCounts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

/** The number of rows in all tables. */
export function totalOf(counts: TableCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
