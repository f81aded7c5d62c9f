import type { Principal } from './principal.ts';

/** Who carried which key when it was last asked for, by its hash; beyond a number, who was longest not asked for is forgotten. */
export class RecentCallers {
  private readonly byHash = new Map<string, Principal>();

  constructor(private readonly most: number) {}

  find(hash: Buffer): Principal | undefined {
    return this.byHash.get(hash.toString('latin1'));
  }

  note(hash: Buffer, principal: Principal): void {
    const key = hash.toString('latin1');
    // A Map keeps the order of insertion: taken out and put in again, it is the youngest.
    this.byHash.delete(key);
    this.byHash.set(key, principal);
    if (this.byHash.size > this.most) this.byHash.delete(this.byHash.keys().next().value!);
  }
}
