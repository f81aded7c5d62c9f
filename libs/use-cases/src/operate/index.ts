// What the operators' command line does. It has an entry of its own, because a command shall not load what serves requests.
export { addIdentity } from './add-identity.ts';
export { changeRecording, changeTrackingUrl, limitWorkspace, retainWorkspace } from './change-workspace.ts';
export { createApiKey, type CreatedApiKey, tooManyKeys } from './create-api-key.ts';
export { createWorkspace } from './create-workspace.ts';
export { deleteApiKey } from './delete-api-key.ts';
export { deleteWorkspace } from './delete-workspace.ts';
export { eraseRecipient } from './erase-recipient.ts';
export { type HastenedRetries, hastenRetries, retriesOf, retriesOfLane } from './hasten-retries.ts';
export { createOperator, removeOperator, resetOperatorPassword } from './manage-operators.ts';
export { listChanges } from './list-changes.ts';
export { listWorkspaces } from './list-workspaces.ts';
export {
  isWhole,
  listPauses,
  pageOfPauses,
  pauseSending,
  resumeSending,
  type Pause,
  type Whose,
} from './pause-sending.ts';
export { requireOpenWorkspace, requireWorkspace } from './require-workspace.ts';
export { resumeEverything } from './resume-everything.ts';
export { resumeWorkspace } from './resume-workspace.ts';
export { rotateSecrets } from './rotate-secrets.ts';
export { sendingStatus, type Restoration, type SendingStatus } from './sending-status.ts';
export { databaseChecks } from '../doctor/database-checks.ts';
export { examine, type CheckResult, type Examination } from '../doctor/examine.ts';
export { machineChecks } from '../doctor/machine-checks.ts';
export { dnsChecks } from '../doctor/dns-checks.ts';
export { redisChecks, relayChecks } from '../doctor/neighbour-checks.ts';
export { trackingHostChecks } from '../doctor/tracking-host-checks.ts';
