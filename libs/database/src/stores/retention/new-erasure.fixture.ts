import { POSTHORN } from '@posthorn/domain';
import type { ErasureRun } from './erasure-store.ts';

/** An erasure that has reached no workspace yet. */
export const NEW_ERASURE: ErasureRun = { actor: POSTHORN, workspaceIds: new Set() };
