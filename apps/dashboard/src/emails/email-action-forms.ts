import { randomUUID } from 'node:crypto';
import type { EmailRecord } from '@posthorn/database';
import { html, type Html } from '../pages/html.ts';
import { timeField } from '../pages/fields.ts';
import { isOnItsWay } from './emails-page.ts';

/** The forms of the actions that are possible in the email's state. @param isSuppressed whether nothing is sent to its recipient */
export function emailActionForms(email: EmailRecord, isSuppressed: boolean): Html {
  if (email.status === 'SCHEDULED')
    return html`<div class="acts">${moveForm(email)} ${cancelForm(email)}</div>`;
  if (isOnItsWay(email) && email.nextAttemptAt !== null) return hastenForm(email);
  if (isOnItsWay(email))
    return html`<p class="quiet">Nothing at the moment: the email is sent automatically.</p>`;
  return html`<div class="acts">${againForm(email, isSuppressed)}</div>`;
}

function moveForm({ id, sendAt }: EmailRecord): Html {
  const value = sendAt?.toISOString().slice(0, 16);
  return html`<form class="card" method="post" action="/emails/${id}/move">
    ${timeField('sendAt', 'Send it at another time', { value, isRequired: true })}
    <button>Move</button>
  </form>`;
}

function cancelForm({ id }: EmailRecord): Html {
  return html`<details class="card" style="margin:0">
    <summary>Cancel it</summary>
    <form method="post" action="/emails/${id}/cancel">
      <p style="margin:.75rem 0 .25rem">This is permanent. It no longer counts towards the monthly limit.</p>
      <button>Cancel the email permanently</button>
    </form>
  </details>`;
}

function hastenForm({ id }: EmailRecord): Html {
  return html`<form method="post" action="/emails/${id}/hasten">
    <p class="quiet">The email is sent automatically; its next attempt need not wait for its time.</p>
    <button>Try it now</button>
  </form>`;
}

/** `wish` is an idempotency key: sending the form again creates no other email. */
function againForm({ id, template }: EmailRecord, isSuppressed: boolean): Html {
  const warning = html`<p class="bad">
    It would not be sent: the recipient is suppressed, as is said above.
  </p>`;
  return html`<form class="card" method="post" action="/emails/${id}/again">
    <input type="hidden" name="wish" value="${randomUUID()}" />
    <label for="reason">Send it again, because</label>
    <input id="reason" name="reason" maxlength="500" required autocomplete="off" />
    <p class="quiet">
      This creates another email with its own
      id${template === null ? '' : ', from the template as it is now'}; limits and suppressions apply to it as
      to any other. The reason is recorded in the audit log of the workspace.
    </p>
    ${isSuppressed ? warning : ''}
    <button>Send again</button>
  </form>`;
}
