import { createHash, randomInt } from 'node:crypto';

/** The seed of a run: set CHAOS_SEED to make the same choices again. */
export const SEED = Number(process.env['CHAOS_SEED'] ?? randomInt(2 ** 31));

/** Choices that follow from a seed. Each actor has its own, so that they do not depend on who is faster. */
export class Random {
  private drawn = 0;

  constructor(private readonly actor: string) {}

  /** A number from 0 to 1, without 1. */
  next(): number {
    const digest = createHash('sha256').update(`${SEED} ${this.actor} ${this.drawn}`).digest();
    this.drawn += 1;
    return digest.readUInt32BE() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number, the bounds included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.between(0, items.length - 1)]!;
  }
}
