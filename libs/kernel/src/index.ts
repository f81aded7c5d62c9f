export * from './coalescer.ts';
export * from './errors.ts';
export * from './escape-html.ts';
export * from './few-at-once.ts';
export * from './ids.ts';
export * from './time.ts';
export * from './release.ts';
export * from './worker-beside.ts';
