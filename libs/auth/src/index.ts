export { ApiKeyGuard, RequiresScope } from './api-key.guard.ts';
export { Authenticate } from './authenticate.ts';
export { Caller, type Principal } from './principal.ts';
