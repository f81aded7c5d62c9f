export { accessOf, type Access } from './access-of.ts';
export { RequiresEditor, RequiresKey, RequiresScope } from './api-key.guard.ts';
export { Authenticate } from './authenticate.ts';
export { IdentifyCaller } from './identify-caller.ts';
export { KeyUses } from './key-uses.ts';
export { actorOf, Caller, type Principal } from './principal.ts';
export { RateLimits } from './rate-limits.ts';
