/**
 * The summary shown once the stack is up.
 *
 * @param {any} stack the contents of stack.json
 * @returns {string}
 */
export function summary(stack) {
  const { apiUrl, dashboardUrl, inbox, workspaceId, keys, operator } = stack;
  return `
Posthorn is up.

  API         ${apiUrl}
  Inbox       ${inbox.webUrl}
  Dashboard   ${dashboardUrl}
              as ${operator.name}, password ${operator.password}
  Workspace   ${workspaceId}, may send from any address at example.com
  API_USER    ${keys.apiUser}
  EDITOR      ${keys.editor}

Send an email, and see it in the inbox:

${exampleCall(apiUrl, keys.apiUser)}

Scripts find all of this in .posthorn/stack.json; the logs are in .posthorn/logs.
`;
}

/** @param {string} apiUrl @param {string} key */
function exampleCall(apiUrl, key) {
  const email = {
    from: 'Posthorn <hello@example.com>',
    to: 'you@example.net',
    subject: 'It works',
    html: '<h1>Hello</h1><p>This came all the way.</p>',
  };
  return `curl -sS ${apiUrl}/v1/emails \\
  -H 'Authorization: Bearer ${key}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(email)}'`;
}
