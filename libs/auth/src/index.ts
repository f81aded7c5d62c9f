export { accessOf, type Access } from './access-of.ts';
export { ApiKeyGuard, RequiresEditor, RequiresKey, RequiresScope } from './api-key.guard.ts';
export { Authenticate } from './authenticate.ts';
export { IdentifyCaller } from './identify-caller.ts';
export { KeyUses, type KeyUsesOptions } from './key-uses.ts';
export { actorOf, Caller, type Principal } from './principal.ts';
export { RateLimits, type RateLimitsOptions } from './rate-limits.ts';
