import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import type { Scope } from '@posthorn/domain';

/** The metadata of routes that need a key. */
export const ACCESS = 'posthorn:access';

/** What a route requires of the caller's API key. */
export interface Access {
  readonly scope?: Scope;
  /** Whether the key must be one that may manage the workspace. */
  readonly manages: boolean;
}

/** What a route requires of its caller: what its handler declares, otherwise its controller. Undefined: it is public. */
export function accessOf(controller: Type, handler: object): Access | undefined {
  const declared: unknown = Reflect.getMetadata(ACCESS, handler) ?? Reflect.getMetadata(ACCESS, controller);
  return declared as Access | undefined;
}
