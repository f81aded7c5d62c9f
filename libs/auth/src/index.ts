export { accessOf, type Access } from './access-of.ts';
export {
  foreignWorkspace,
  lacksScope,
  mayNotManage,
  RequiresEditor,
  RequiresKey,
  RequiresScope,
} from './api-key.guard.ts';
export { Authenticate } from './authenticate.ts';
export { missingKey, unknownKey } from './bearer-credential.ts';
export { IdentifyCaller } from './identify-caller.ts';
export { KeyUses } from './key-uses.ts';
export { IsMailLink } from './mail-link.interceptor.ts';
export { actorOf, Caller, type Principal } from './principal.ts';
export { RateLimits, tooManyFailures, tooManyInvalidLinks, tooManyRequests } from './rate-limits.ts';
