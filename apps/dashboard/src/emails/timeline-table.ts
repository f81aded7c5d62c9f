import { type EmailRecord, MAX_TIMELINE_ENTRIES } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { toText, table, time } from '../pages/components.ts';

type Fact = EmailRecord['timeline'][number];

const CUT = html`<p class="quiet">Only the newest ${MAX_TIMELINE_ENTRIES} entries are shown.</p>`;

export function timelineTable({ acceptedAt, sendAt, timeline }: EmailRecord): Html {
  const accepted = html`<tr>
    <td data-label="When (UTC)">${time(acceptedAt)}</td>
    <td>${sendAt === null ? 'ACCEPTED' : 'SCHEDULED'}</td>
    <td></td>
    <td></td>
  </tr>`;
  const rows = table(['When (UTC)', 'What', 'Answer', 'More'], [accepted, ...timeline.map(row)]);
  return timeline.length < MAX_TIMELINE_ENTRIES ? rows : html`${CUT} ${rows}`;
}

function row({ kind, at, late, duplicatePossible, report, detail }: Fact): Html {
  const { reply, error, ...more } = detail;
  const isNotSentAgain = (kind === 'FAILED' || kind === 'CANCELLED') && !late;
  const remarks = [
    ...(late ? ['came too late to change anything'] : []),
    ...(duplicatePossible ? [isNotSentAgain ? 'may have arrived' : 'may have arrived more than once'] : []),
    ...(report === null ? [] : [`reported: ${report}`]),
    ...Object.entries(more).map(([name, value]) => `${name}: ${toText(value)}`),
  ];
  return html`<tr>
    <td data-label="When (UTC)">${time(at)}</td>
    <td>${kind}</td>
    <td class="wrap">${replyText(reply) ?? toText(error ?? '')}</td>
    <td class="wrap quiet">${remarks.join('; ')}</td>
  </tr>`;
}

/** Why an attempt failed, in the words of the relay or of Posthorn, from an entry of a timeline; a report may have neither. */
export function failureText({ reply, error, reason }: Fact['detail']): string {
  return replyText(reply) ?? toText(error ?? reason ?? 'no reason was given');
}

/** An SMTP reply as the server sent it (RFC 5321, section 4.2). */
function replyText(reply: unknown): string | undefined {
  if (typeof reply !== 'object' || reply === null) return undefined;
  const { code, enhancedCode, text } = reply as Readonly<Record<string, unknown>>;
  const parts = [code, enhancedCode, text].filter((part) => part !== undefined);
  return parts.map(toText).join(' ');
}
