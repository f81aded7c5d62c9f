import { describe, expect, it } from '@jest/globals';
import { rateChart } from './rate-chart.ts';

const LABELS = { title: 'Emails accepted', bad: 'bounced or failed' };
const NOW = new Date('2026-11-27T00:20:59.999Z');

const minuteOf = (minute: string, all: number, bad: number) => ({ minute: new Date(minute), all, bad });

describe('the chart of an hour', () => {
  it('says sum, maximum and what went wrong, and between which times', () => {
    const minutes = [minuteOf('2026-11-26T23:21:00Z', 1_000, 0), minuteOf('2026-11-27T00:20:00Z', 200, 3)];
    const text = rateChart(LABELS, minutes, NOW)
      .text.replaceAll(/<svg.*<\/svg>|<[^>]*>/gs, ' ')
      .replaceAll(/\s+/g, ' ');
    expect(text).toBe(
      ' Emails accepted in the last hour: 1,200, at most 1,000 a minute; 3 bounced or failed 23:21 UTC 23:50 UTC 00:20 UTC ',
    );
  });

  it('puts each minute above its time, and leaves out what is older', () => {
    const minutes = [
      '2026-11-26T23:20:00Z',
      '2026-11-26T23:21:00Z',
      '2026-11-26T23:50:00Z',
      '2026-11-27T00:20:00Z',
    ];
    const { text } = rateChart(
      LABELS,
      minutes.map((minute) => minuteOf(minute, 4, 1)),
      NOW,
    );
    const bars = [...text.matchAll(/<title>(.*?)<\/title.*?x="(\d+)".*?height="(\d+)".*?height="(\d+)"/gs)];
    expect(bars.map((bar) => bar.slice(1).join(' | '))).toEqual([
      '23:21 UTC: 4, of these 1 bounced or failed | 0 | 100 | 25',
      '23:50 UTC: 4, of these 1 bounced or failed | 290 | 100 | 25',
      '00:20 UTC: 4, of these 1 bounced or failed | 590 | 100 | 25',
    ]);
  });

  it('of an hour without anything is empty', () => {
    const { text } = rateChart(LABELS, [], NOW);
    expect(text).toContain('Emails accepted in the last hour: 0, at most 0 a');
    expect(text).not.toContain('<rect');
  });
});
