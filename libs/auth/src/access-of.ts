import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants.js';
import type { Scope } from '@posthorn/domain';
import { ApiKeyGuard, MANAGES, SCOPE } from './api-key.guard.ts';

/** What a route requires of the caller's API key. */
export interface Access {
  readonly scope?: Scope;
  /** Whether the key must be one that may manage the workspace. */
  readonly manages: boolean;
}

/** What a route requires of its caller; undefined: it is public. */
export function accessOf(controller: Type, handler: object): Access | undefined {
  const guards = [handler, controller].flatMap(
    (target) => (Reflect.getMetadata(GUARDS_METADATA, target) ?? []) as unknown[],
  );
  if (!guards.includes(ApiKeyGuard)) return undefined;
  const metadata = (name: string): unknown =>
    Reflect.getMetadata(name, handler) ?? Reflect.getMetadata(name, controller);
  const scope = metadata(SCOPE) as Scope | undefined;
  return { ...(scope && { scope }), manages: metadata(MANAGES) === true };
}
