import type { Actor } from '@posthorn/domain';
import type { AuditEntry } from '@posthorn/database';
import { table, time, toText } from '../pages/components.ts';
import { html, type Html } from '../pages/html.ts';

/** What was done to one object, when and by whom. */
export function changesTable(entries: readonly AuditEntry[]): Html {
  const row = ({ createdAt, action, actor, detail }: AuditEntry): Html =>
    html`<tr>
      <td data-label="Done (UTC)">${time(createdAt)}</td>
      <td class="first">${action}</td>
      <td class="name"><bdi>${actorText(actor)}</bdi></td>
      <td class="wrap"><bdi>${detailText(detail)}</bdi></td>
    </tr>`;
  return table(['Done (UTC)', 'What', 'By', 'Detail'], entries.map(row));
}

/** Shown after the names of actors that may have any name. */
const KINDS: Partial<Record<Actor['kind'], string>> = {
  operator: 'operator',
  user: 'member',
  api_key: 'API key',
};

export function actorText({ kind, name }: Actor): string {
  return KINDS[kind] === undefined ? name : `${name} (${KINDS[kind]})`;
}

export function detailText(detail: AuditEntry['detail']): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join('; ');
}

/** A value; of one that was changed, both. */
function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return toText(value);
  const { from, to, ...others } = value as Readonly<Record<string, unknown>>;
  const isChange = from !== undefined && to !== undefined && Object.keys(others).length === 0;
  return isChange ? `${toText(from)} → ${toText(to)}` : toText(value);
}
