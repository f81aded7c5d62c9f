/** The introduction of the document: what all routes have in common. */
export const PREFACE = `
**Requests** are JSON in UTF-8 (\`Content-Type: application/json\`, not compressed). Unknown fields are refused, in queries
too: otherwise an email with a misspelt \`sendAt\` would be sent at once. An id is a prefix, \`_\` and 26 characters. Times are ISO 8601 in UTC with milliseconds.
Refused in any body, before its fields are checked: numbers beyond 2^53 − 1 (send them as strings), U+0000, unpaired surrogates, keys that are given twice,
\`__proto__\` as a key, more than 64 levels, 500,000 values, or 50,000 keys (250,000 in a batch).

**Keys.** Every request carries \`Authorization: Bearer <API key>\`. A key belongs to one workspace; objects of other workspaces are
answered as if they did not exist.

**Answers.** Every success has the status 200. Any other answer has the fields of \`ErrorAnswer\`: \`message\` says what is wrong and how to
fix it, and lists all the faults of a request at once, joined by \`; \`. A refused call changes nothing. Any route can also answer
404 if there is no such path, 405 (with \`Allow\`) if the path does not have the method, 408 if a request takes too long to arrive, 431 if its headers are larger than
16 KiB, and 500 for a fault in Posthorn. Every answer has an \`X-Request-Id\`; quote it if something goes wrong.

**Changes** to this interface only add: routes, optional fields of requests, fields of answers and events, values of enumerations, headers. So ignore fields that
you do not know, and expect values that you do not know. The words of \`message\` are for people and may change.

**Lists** come in pages: \`items\`, \`hasMore\` and \`startAt\`. To get the next page, send \`startAt\` back unchanged; it is \`null\` on the last page.

**Events** are posted to webhooks; the section of that name describes the body and the headers of each.

**Retries.** A request answered 429 had no effect: wait for as many seconds as \`Retry-After\` says, and repeat the call. After a 503, a 502 or 504 of a proxy
in front of the gateway, or a broken connection, you cannot know whether a call took effect. Where a route has the header \`Idempotency-Key\`, give a key to every call that must not be done twice: repeated with the same key, it is done once and gets the same answer.
`.trim();
