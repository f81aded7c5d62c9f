import { expect } from '@jest/globals';
import type { Answer, Api } from './api.ts';

/** A DNS record of a domain, as the API shows it. */
export interface ShownRecord {
  readonly purpose: string;
  readonly isRequired: boolean;
  readonly type: string;
  readonly name: string;
  readonly value: string | null;
  readonly stage: string | null;
  readonly keepUntil: string | null;
  readonly status: string;
  readonly message: string;
  readonly found: readonly string[];
}

/** An identity, as the API shows it. */
export interface ShownIdentity {
  readonly id: string;
  readonly kind: string;
  readonly value: string;
  readonly status: string;
  readonly verifiedAt: string | null;
  readonly records: readonly ShownRecord[];
  readonly checkedAt: string | null;
  readonly nextCheckAt: string | null;
}

/** The identity of an answer. */
export function identityIn({ status, text, body }: Answer): ShownIdentity {
  expect([status, text]).toEqual([200, expect.stringContaining('"identity"')]);
  return body['identity'] as ShownIdentity;
}

/** Adds an address or a domain. */
export async function addIdentity(api: Api, what: object): Promise<ShownIdentity> {
  return identityIn(await api.post('/v1/identities', what));
}

/** The record for a purpose. */
export function recordOf({ records }: ShownIdentity, purpose: string): ShownRecord {
  return records.find((record) => record.purpose === purpose)!;
}
