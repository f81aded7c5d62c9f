import { type MinuteOfEmails } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';

const MINUTES = 60;
const MINUTE_MS = 60_000;
/** Of a bar with its gap; the plot is stretched to the width of the page. */
const BAR_WIDTH = 10;
const HEIGHT = 100;

/** The last hour as bars, one a minute: accepted, and of these, from the ground up, bounced or failed. */
export function ratePlot(minutes: readonly MinuteOfEmails[], now: Date): Html {
  const last = Math.floor(now.getTime() / MINUTE_MS);
  const byMinute = new Map(minutes.map((one) => [Math.floor(one.minute.getTime() / MINUTE_MS), one]));
  const most = Math.max(1, ...minutes.map(({ accepted }) => accepted));
  const bars = Array.from({ length: MINUTES }, (_, index) => {
    const minute = byMinute.get(last - MINUTES + 1 + index);
    return minute === undefined ? html`` : barOf(minute, index * BAR_WIDTH, HEIGHT / most);
  });
  const sum = minutes.reduce((total, { accepted }) => total + accepted, 0);
  return html`<figure class="card" style="margin:0">
    <figcaption class="quiet">
      Emails accepted in the last hour: ${sum}, at most ${most} a minute. What bounced or failed of them is at
      the foot of its bar.
    </figcaption>
    <svg
      viewBox="0 0 ${MINUTES * BAR_WIDTH} ${HEIGHT}"
      preserveAspectRatio="none"
      role="img"
      aria-label="Emails accepted each minute of the last hour"
    >
      ${bars}
    </svg>
  </figure>`;
}

function barOf({ minute, accepted, failed }: MinuteOfEmails, x: number, scale: number): Html {
  const bar = (height: number, name: string): Html =>
    html`<rect
      class="${name}"
      x="${x}"
      y="${HEIGHT - height}"
      width="${BAR_WIDTH - 2}"
      height="${height}"
    ></rect>`;
  const time = minute.toISOString().slice(11, 16);
  return html`<g
    ><title>${time} UTC: ${accepted} accepted, ${failed} bounced or failed</title
    >${bar(accepted * scale, 'a')}${bar(failed * scale, 'b')}</g
  >`;
}
