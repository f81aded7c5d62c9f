import type pg from 'pg';

/** A node of a plan, as EXPLAIN shows it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Plans'?: PlanNode[];
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Actual Loops'?: number;
  /** Of each loop, on average. */
  readonly 'Actual Rows'?: number;
  readonly 'Rows Removed by Filter'?: number;
}

/** What EXPLAIN gives in JSON. */
export interface Explained {
  readonly 'QUERY PLAN': [{ readonly Plan: PlanNode }];
}

/** A plan as a list of its nodes. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** The plan that a statement without a name gets for these values, and what executing it touched. */
export async function executedPlan(
  client: pg.Pool | pg.PoolClient,
  { text, values }: { readonly text: string; readonly values: readonly unknown[] },
): Promise<PlanNode[]> {
  const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`;
  const { rows } = await client.query<Explained>(explain, [...values]);
  return nodesOf(rows[0]!['QUERY PLAN'][0].Plan);
}

/** The pages that a plan touched. */
export function pagesTouched([root]: readonly PlanNode[]): number {
  return root!['Shared Hit Blocks'] + root!['Shared Read Blocks'];
}

/** The indexes that were really read: a partition that was pruned while executing has a node, but no loops. */
export function indexesRead(plan: readonly PlanNode[]): string[] {
  const read = plan.filter((node) => node['Index Name'] !== undefined && node['Actual Loops'] !== 0);
  return [...new Set(read.map((node) => node['Index Name']!))].sort();
}
