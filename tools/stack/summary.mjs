import { hideLogin } from './services.mjs';

/** The addresses of the example when the inbox keeps all emails, and when a relay delivers them. */
const KEPT = { from: 'hello@example.com', to: 'you@example.net' };
const REAL = { from: 'hello@your-domain.example', to: 'you@your-domain.example' };

/**
 * The summary shown once the stack is up.
 *
 * @param {any} stack the contents of stack.json
 * @returns {string}
 */
export function summary(stack) {
  const { apiUrl, publicUrl, dashboardUrl, inbox, smtpUrl, workspaceId, keys, operator } = stack;
  const isKept = smtpUrl === inbox.smtpUrl;
  return `
Posthorn is up.

  API         ${apiUrl}
  ${isKept ? `Inbox       ${inbox.webUrl}` : `Relay       ${relayNames(smtpUrl)}`}
  Dashboard   ${dashboardUrl}
              as ${operator.name}, password ${operator.password}
  Workspace   ${workspaceId}, may send from any address at example.com
  API_USER    ${keys.apiUser}
  EDITOR      ${keys.editor}

${isKept ? 'Send an email, and see it in the inbox:' : `${publicUrl === apiUrl ? deadLinks(publicUrl) : ''}${firstRealEmail(workspaceId)}`}

${exampleCall(apiUrl, keys.apiUser, isKept ? KEPT : REAL)}

Scripts find all of this in .posthorn/stack.json; the logs are in .posthorn/logs.
`;
}

/** @param {string} workspaceId */
function firstRealEmail(workspaceId) {
  return `Emails leave through your relay, so send from a domain that it sends for, to a mailbox of yours. Once:

npm run posthorn -- identity create --workspace ${workspaceId} --domain your-domain.example --verified

Then:`;
}

/** @param {string} publicUrl */
function deadLinks(publicUrl) {
  return `Tracked links and unsubscribe links in emails lead to ${publicUrl}, which only this machine reaches:
set PUBLIC_URL to the address at which recipients reach the gateway.

`;
}

/** @param {string} smtpUrl one relay, or several separated by spaces */
function relayNames(smtpUrl) {
  return smtpUrl.trim().split(/\s+/).map(hideLogin).join(', ');
}

/** @param {string} apiUrl @param {string} key @param {{ from: string, to: string }} addresses */
function exampleCall(apiUrl, key, { from, to }) {
  const email = {
    from: `Posthorn <${from}>`,
    to,
    subject: 'It works',
    html: '<h1>Hello</h1><p>This came all the way.</p>',
  };
  return `curl -sS ${apiUrl}/v1/emails \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(email)}'`;
}
