import type { DatabaseClock } from '@posthorn/kernel';
import {
  keepUntilMs,
  type RecordFindings,
  stageMessage,
  type ExpectedRecord,
  expectedRecords,
} from '@posthorn/domain';
import {
  type Identity as StoredIdentity,
  type IdentityWithRecords as StoredWithRecords,
  stagedKey,
} from '@posthorn/database';
import { foundBy } from '../validation/path-ids.ts';
import type { Identity, IdentityAnswer, IdentityWithRecords } from './identity.answers.ts';

/** The API representation of an identity in a list. */
export function identityView(identity: StoredIdentity): Identity {
  const { id, kind, value, status, verifiedAt, createdAt } = identity;
  return { id, kind, value, status, verifiedAt, createdAt };
}

/** The API representation of identities, with the DNS records that are required and found. */
export class IdentityViews {
  /** @param spfInclude what the SPF records of domains must include; undefined: not configured */
  constructor(
    private readonly spfInclude: string | undefined,
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
  ) {}

  /** @throws Refusal 404 when there is none */
  answer(stored: StoredWithRecords | undefined): IdentityAnswer {
    const identity = foundBy('identity_id', stored);
    const { check, keys, value } = identity;
    const wanted = check === null ? [] : expectedRecords(value, keys, this.spfInclude);
    const nowMs = this.clock.nowMs();
    return {
      identity: {
        ...identityView(identity),
        records: wanted.map((record) =>
          recordView(record, check?.findings ?? {}, keepUntilOf(identity, record), nowMs),
        ),
        checkedAt: check?.checkedAt ?? null,
        nextCheckAt: check?.dueAt ?? null,
        wrongSince: check?.wrongSince ?? null,
      },
    };
  }
}

const UNCHECKED = { state: 'UNCHECKED', message: 'It has not been looked for yet', found: [] } as const;

function keepUntilOf({ keys }: StoredWithRecords, record: ExpectedRecord): Date | null {
  const key = keys.find((each) => each === record.key);
  const until = key === undefined ? null : keepUntilMs(stagedKey(key));
  return until === null ? null : new Date(until);
}

function recordView(
  { purpose, isRequired, name, value, key }: ExpectedRecord,
  findings: RecordFindings,
  keepUntil: Date | null,
  nowMs: number,
): IdentityWithRecords['records'][number] {
  const { state, message, found } = findings[name] ?? UNCHECKED;
  const stage = key?.stage ?? null;
  const said = (stage && stageMessage(stage, state, keepUntil, nowMs)) ?? message;
  return {
    purpose,
    isRequired,
    type: 'TXT',
    name,
    value,
    stage,
    keepUntil,
    status: state,
    message: said,
    found,
  };
}
