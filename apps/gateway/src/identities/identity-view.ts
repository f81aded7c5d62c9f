import { type RecordFindings, type WantedRecord, wantedRecords } from '@posthorn/domain';
import {
  type Identity as StoredIdentity,
  type IdentityWithRecords as StoredWithRecords,
} from '@posthorn/database';
import { type Identity, type IdentityWithRecords } from './identity.answers.ts';

/** An identity as lists show it. */
export function identityView(identity: StoredIdentity): Identity {
  const { id, kind, value, status, verifiedAt, createdAt } = identity;
  return { id, kind, value, status, verifiedAt, createdAt };
}

/** An identity with what is wanted of the DNS and what was found there. */
export function identityWithRecordsView(
  identity: StoredWithRecords,
  spfInclude: string | undefined,
): IdentityWithRecords {
  const { check, keys, value } = identity;
  const wanted = check === null ? [] : wantedRecords(value, keys, spfInclude);
  return {
    ...identityView(identity),
    records: wanted.map((record) => recordView(record, check?.findings ?? {})),
    checkedAt: check?.checkedAt ?? null,
    nextCheckAt: check?.dueAt ?? null,
    wrongSince: check?.wrongSince ?? null,
  };
}

const UNCHECKED = { state: 'UNCHECKED', message: 'It has not been looked for yet', found: [] } as const;

function recordView(
  { purpose, isRequired, name, value }: WantedRecord,
  findings: RecordFindings,
): IdentityWithRecords['records'][number] {
  const { state, message, found } = findings[name] ?? UNCHECKED;
  return { purpose, isRequired, type: 'TXT', name, value, status: state, message, found };
}
