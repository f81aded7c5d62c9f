import type { Type, ValueProvider } from '@nestjs/common';

/** Provides each of these objects by its class. */
export function providersOf(...instances: readonly object[]): ValueProvider[] {
  return instances.map((instance) => ({ provide: instance.constructor as Type, useValue: instance }));
}
