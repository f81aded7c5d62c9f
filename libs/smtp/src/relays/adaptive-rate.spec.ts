import { describe, expect, it } from '@jest/globals';
import { AdaptiveRate } from './adaptive-rate.ts';

const MAX = 2_000;
const CONNECTIONS = 20;
const REPLY_AFTER_MS = 10;

/** A relay that is sent emails as fast as the rate allows, over 20 connections, by a clock of its own. */
class BusyRelay {
  readonly rate: AdaptiveRate;
  nowMs = 0;
  taken = 0;
  tooFast = 0;
  private nextMs = 0;
  private readonly repliesAtMs: number[] = [];

  constructor() {
    this.rate = new AdaptiveRate(MAX, () => this.nowMs);
  }

  /** @param isTooFast the relay's verdict on an email that arrives now */
  sendFor(seconds: number, isTooFast: () => boolean): void {
    const endMs = this.nowMs + seconds * 1_000;
    while (this.nowMs < endMs) {
      const beginMs =
        this.repliesAtMs.length < CONNECTIONS ? Math.max(this.nextMs, this.nowMs) : Number.POSITIVE_INFINITY;
      const replyMs = this.repliesAtMs[0] ?? Number.POSITIVE_INFINITY;
      this.nowMs = Math.min(beginMs, replyMs);
      if (replyMs < beginMs) this.reply(isTooFast());
      else this.begin();
    }
  }

  /** A token bucket that allows a burst of a second. */
  limitedTo(perSecond: number): () => boolean {
    let tokens = perSecond;
    let atMs = this.nowMs;
    return () => {
      tokens = Math.min(perSecond, tokens + ((this.nowMs - atMs) * perSecond) / 1_000);
      atMs = this.nowMs;
      if (tokens < 1) return true;
      tokens -= 1;
      return false;
    };
  }

  private begin(): void {
    this.nextMs = this.nowMs + 1_000 / this.rate.perSecond;
    this.repliesAtMs.push(this.nowMs + REPLY_AFTER_MS);
  }

  private reply(isTooFast: boolean): void {
    this.repliesAtMs.shift();
    if (isTooFast) this.tooFast += 1;
    else this.taken += 1;
    this.rate.note(isTooFast);
  }
}

describe('the rate that a relay takes', () => {
  it.each([5, 14, 100, 1_000])('is found, and nearly all of it is used: %i emails a second', (perSecond) => {
    const relay = new BusyRelay();
    relay.sendFor(120, relay.limitedTo(perSecond));
    expect(relay.taken).toBeGreaterThan(perSecond * 120 * 0.9);
    expect(relay.tooFast).toBeLessThan(relay.taken * 0.2 + 200);
  });

  it('costs few emails an attempt at the beginning', () => {
    const relay = new BusyRelay();
    relay.sendFor(5, relay.limitedTo(14));
    expect(relay.tooFast).toBeLessThan(250);
  });

  it('is the full one again soon after the relay takes everything', () => {
    const relay = new BusyRelay();
    relay.sendFor(30, relay.limitedTo(14));
    expect(relay.rate.isLowered).toBe(true);
    relay.sendFor(60, () => false);
    expect([relay.rate.perSecond, relay.rate.isLowered]).toEqual([MAX, false]);
  });

  it('is not lowered by a few recipients whose servers get emails too fast', () => {
    const relay = new BusyRelay();
    let n = 0;
    relay.sendFor(30, () => (n += 1) % 5 === 0);
    expect(relay.rate.isLowered).toBe(false);
  });

  it('is not lowered by fewer than ten answers, whatever they say: where few emails are sent, they may all be to one server', () => {
    const relay = new BusyRelay();
    const tooFastAfter = (seconds: number): boolean => {
      relay.nowMs += seconds * 1_000;
      relay.rate.note(true);
      return relay.rate.isLowered;
    };
    expect(Array.from({ length: 9 }, () => tooFastAfter(2))).not.toContain(true);
    expect(tooFastAfter(2)).toBe(true);
  });

  it('is never raised by answers that say "too fast", however many come at once', () => {
    const relay = new BusyRelay();
    relay.sendFor(60, () => true);
    for (let n = 0; n < 100; n += 1) relay.rate.note(true);
    expect(relay.rate.perSecond).toBe(1);
  });

  it('is the full one again after an hour in which nothing was too fast, however few emails there were', () => {
    const relay = new BusyRelay();
    relay.sendFor(60, () => true);
    const rates: number[] = [];
    for (let minutes = 0; minutes < 62; minutes += 1) {
      relay.nowMs += 60_000;
      relay.rate.note(false);
      rates.push(relay.rate.perSecond);
    }
    expect([rates[58], rates[60]]).toEqual([1, MAX]);
    relay.rate.note(true);
    expect(relay.rate.isLowered).toBe(false);
  });

  it('is never lower than one a second, and answers that come seldom do not change it', () => {
    const relay = new BusyRelay();
    relay.sendFor(60, () => true);
    expect(relay.rate.perSecond).toBe(1);
    for (let n = 0; n < 100; n += 1) {
      relay.nowMs += 40_000;
      relay.rate.note(n % 2 === 0);
    }
    expect(relay.rate.perSecond).toBe(1);
  });
});
