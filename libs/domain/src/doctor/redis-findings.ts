import { advice, bytesText, fault, type Finding, good, pointAtPrimary, unknown } from './finding.ts';

/** The fields of `INFO`. */
export type RedisFacts = Readonly<Record<string, string>>;

const MIN_MAJOR = 7;
const FULL_SHARE = 0.8;

/** Valkey reports `redis_version` 7.2, and its own version beside it. */
export function judgeRedisVersion(facts: RedisFacts): Finding {
  const version = facts['redis_version'] ?? '';
  const name =
    facts['valkey_version'] === undefined ? `Redis ${version}` : `Valkey ${facts['valkey_version']}`;
  return Number(version.split('.')[0]) >= MIN_MAJOR
    ? good(name)
    : fault(name, `use Redis ${MIN_MAJOR} or newer, or Valkey`);
}

/** Without evicted jobs and job schedulers, emails are sent late. */
export function judgeEviction(facts: RedisFacts): Finding {
  const policy = facts['maxmemory_policy'];
  if (policy === undefined)
    return unknown(
      'Redis does not say what it does when its memory is full',
      'check that maxmemory-policy is noeviction',
    );
  if (policy === 'noeviction') return good('Redis forgets nothing when its memory is full (noeviction)');
  return fault(
    `Redis forgets keys when its memory is full (maxmemory-policy ${policy}), and with them rings and regular jobs`,
    'set maxmemory-policy noeviction, in redis.conf too',
  );
}

/** Only advice, because nothing is lost with Redis' data. */
export function judgePersistence(facts: RedisFacts): Finding {
  if (facts['aof_enabled'] === undefined)
    return unknown('Redis does not say whether it writes to disk', 'check that appendonly is yes');
  if (facts['aof_enabled'] === '1') return good('Redis writes to disk what it is told (AOF)');
  return advice(
    'Redis forgets its queues when it restarts (appendonly no); nothing is lost, emails then leave some seconds later',
    'set appendonly yes',
  );
}

/** Whether Redis has memory left. */
export function judgeRedisMemory(facts: RedisFacts): Finding {
  const used = Number(facts['used_memory'] ?? 0);
  const max = Number(facts['maxmemory'] ?? 0);
  if (max === 0) return good(`Redis uses ${bytesText(used)} and has no bound of its own`);
  const found = `Redis uses ${bytesText(used)} of ${bytesText(max)}`;
  if (used >= max && facts['maxmemory_policy'] === 'noeviction')
    return fault(
      `${found} and takes nothing more: emails are accepted, and wait`,
      'raise maxmemory, or take away what others keep there: queues hold little',
    );
  return used / max < FULL_SHARE
    ? good(found)
    : advice(found, 'raise maxmemory, or see what else keeps keys there: queues hold little');
}

/** A replica answers, but accepts no jobs: emails wait. */
export function judgeRedisRole(facts: RedisFacts): Finding {
  if (facts['role'] !== 'slave') return good('Redis is a primary');
  return fault(
    'Redis is a replica and accepts no writes: emails are accepted, and wait',
    pointAtPrimary('REDIS_URL'),
  );
}

/** By the prefix of the error (https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors). */
const REFUSALS: readonly (readonly [RegExp, found: string, mend: string])[] = [
  [
    /^MISCONF.* AOF/,
    'Redis accepts no writes because it cannot write to its disk',
    'make room on its disk and see its log; nothing is lost with it, so it may also continue without (appendonly no)',
  ],
  [
    /^MISCONF/,
    'Redis accepts no writes because it cannot write to its disk',
    'make room on its disk and see its log; nothing is lost with it, so it may also continue without (stop-writes-on-bgsave-error no)',
  ],
  [
    /^NOREPLICAS/,
    'Redis accepts no writes because too few replicas follow it',
    'check that its replicas are running; nothing is lost with it, so it may also continue without (min-replicas-to-write 0)',
  ],
  [
    /^CROSSSLOT/,
    'Redis is a cluster, where the keys of a queue may not be changed together',
    'point REDIS_URL at a Redis that is not a cluster: queues are small',
  ],
];

/**
 * Whether Redis accepts writes.
 *
 * @param refusal the error of a write; undefined: it succeeded
 */
export function judgeRedisChanges(facts: RedisFacts, refusal: string | undefined): Finding {
  if (refusal === undefined) return good('Redis takes changes');
  if (refusal.startsWith('READONLY')) return judgeRedisRole(facts);
  const [, found, mend] = REFUSALS.find(([words]) => words.test(refusal)) ?? [
    undefined,
    `Redis accepts no writes (${refusal})`,
    'see its log',
  ];
  return fault(`${found}: emails are accepted, and wait`, mend);
}
