import { html, type Html } from '../pages/html.ts';
import { count } from '../pages/components.ts';

const MINUTES = 60;
const MINUTE_MS = 60_000;
/** Of a bar with its gap, in units of the view box, which is stretched to the width of the page. */
const BAR_WIDTH = 10;
const HEIGHT = 100;

/** One bar of a chart. */
export interface ChartMinute {
  readonly minute: Date;
  readonly all: number;
  /** How many of these went wrong: the lower part of the bar. */
  readonly bad: number;
}

/** The texts of a chart. */
interface ChartLabels {
  /** What is counted, such as `Emails accepted`. */
  readonly title: string;
  /** What went wrong, such as `bounced or failed`. */
  readonly bad: string;
}

/** A bar chart of the last hour by minute. */
export function rateChart({ title, bad }: ChartLabels, minutes: readonly ChartMinute[], now: Date): Html {
  const last = Math.floor(now.getTime() / MINUTE_MS);
  const byMinute = new Map(minutes.map((one) => [Math.floor(one.minute.getTime() / MINUTE_MS), one]));
  const max = Math.max(0, ...minutes.map(({ all }) => all));
  const bars = Array.from({ length: MINUTES }, (_, index) => {
    const minute = byMinute.get(last - MINUTES + 1 + index);
    return minute === undefined
      ? html``
      : barOf(minute, { x: index * BAR_WIDTH, scale: HEIGHT / Math.max(1, max), bad });
  });
  const sum = minutes.reduce((total, { all }) => total + all, 0);
  const wrong = minutes.reduce((total, one) => total + one.bad, 0);
  return html`<figure class="card" style="margin:0">
    <figcaption class="quiet">
      ${title} in the last hour: ${count(sum)}, at most ${count(max)} a
      minute${wrong > 0 ? html`; <b class="bad">${count(wrong)}</b> ${bad}` : ''}
    </figcaption>
    <svg
      viewBox="0 0 ${MINUTES * BAR_WIDTH} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${title} each minute of the last hour"
    >
      ${bars}
    </svg>
    <div class="axis">${[1 - MINUTES, -MINUTES / 2, 0].map((ago) => timeMark(last + ago))}</div>
  </figure>`;
}

function barOf(
  { minute, all, bad: wrong }: ChartMinute,
  { x, scale, bad }: { x: number; scale: number; bad: string },
): Html {
  const bar = (height: number, name: string): Html =>
    html`<rect
      class="${name}"
      x="${x}"
      y="${HEIGHT - height}"
      width="${BAR_WIDTH - 2}"
      height="${height}"
    ></rect>`;
  return html`<g
    ><title>${timeOfDay(minute)} UTC: ${count(all)}, of these ${count(wrong)} ${bad}</title
    >${bar(all * scale, 'a')}${bar(wrong * scale, 'b')}</g
  >`;
}

/** The time below the bar of a minute (since 1970). */
function timeMark(minute: number): Html {
  return html`<span>${timeOfDay(new Date(minute * MINUTE_MS))} UTC</span>`;
}

function timeOfDay(moment: Date): string {
  return moment.toISOString().slice(11, 16);
}
