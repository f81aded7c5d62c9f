import { expect, it } from '@jest/globals';
import {
  ATTEMPT_ERRORS,
  CONTACT_STATUSES,
  DELIVERY_STATUSES,
  EMAIL_STATUSES,
  ERASURE_STATES,
  IDENTITY_STATUSES,
  KEY_STAGES,
  OPERATOR_ROLES,
  RECOVERY_STATES,
  REPORT_KIND_NAMES,
  ROLE_NAMES,
  SUPPRESSION_REASONS,
  WEBHOOK_STATUSES,
} from '@posthorn/domain';
import * as enums from '../generated/enums.ts';

/** The words of the domain that are stored as an enum. One that the database lacks would be refused when it is recorded. */
const STORED = {
  ContactStatus: Object.keys(CONTACT_STATUSES),
  DeliveryStatus: Object.keys(DELIVERY_STATUSES),
  DkimKeyStage: Object.keys(KEY_STAGES),
  EmailStatus: Object.keys(EMAIL_STATUSES),
  ErasureState: Object.keys(ERASURE_STATES),
  IdentityStatus: Object.keys(IDENTITY_STATUSES),
  OperatorRole: OPERATOR_ROLES,
  PostErrorClass: Object.keys(ATTEMPT_ERRORS),
  RecoveryState: Object.keys(RECOVERY_STATES),
  ReportKind: REPORT_KIND_NAMES,
  Role: ROLE_NAMES,
  SuppressionReason: Object.keys(SUPPRESSION_REASONS),
  WebhookStatus: Object.keys(WEBHOOK_STATUSES),
} satisfies Partial<Record<keyof typeof enums, readonly string[]>>;

it.each(Object.entries(STORED))('The enum %s of the schema has the words of the domain', (name, words) => {
  expect(Object.values(enums[name as keyof typeof STORED]).sort()).toEqual([...words].sort());
});
