import type { Database } from '@posthorn/database';

/** From now on, how many connections of the pool have been in use at once, at most. */
export function watchConnections({ pool }: Pick<Database, 'pool'>): { readonly most: number } {
  const inUse = { most: 0 };
  pool.on('acquire', () => {
    inUse.most = Math.max(inUse.most, pool.totalCount - pool.idleCount);
  });
  return inUse;
}
