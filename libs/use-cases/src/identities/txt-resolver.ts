import type { TxtAnswer } from '@posthorn/domain';

/** Looks up TXT records. */
export interface TxtResolver {
  lookUpTxt(name: string): Promise<TxtAnswer>;
}
