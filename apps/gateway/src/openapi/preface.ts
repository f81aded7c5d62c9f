/** What is the same on every route, said once at the beginning of the document. */
export const PREFACE = `
**Requests** are JSON in UTF-8 (\`Content-Type: application/json\`, not compressed). Fields that are not known are refused, in a
query too: a misspelt \`sendAt\` must never send at once. Ids are a prefix, \`_\` and 26 characters. Times are ISO 8601 in UTC with milliseconds.

**Keys.** Every request carries \`Authorization: Bearer <API key>\`. A key belongs to one workspace; what another workspace has
cannot be told from what does not exist.

**Answers.** Every success has the status 200. Any other answer has the fields of \`ErrorAnswer\`: \`message\` names what is wrong and says how to
mend it, all faults of a request at once, joined by \`; \`. A refused call changes nothing. Statuses beside those of each route:
404 where there is no such path, 405 (with \`Allow\`) for another method, 408 for a request that takes too long to arrive, 431 for headers of more than
16 KiB, 500 for a fault of ours. Every answer has an \`X-Request-Id\`; tell us that one if something goes wrong.

**Lists** come in pages: \`items\`, \`hasMore\` and \`startAt\`. Ask for the next page with \`startAt\` as it was given; it is \`null\` on the last one.

**Events** are posted to webhooks, as the section of that name describes: what is in the body of each, and what its headers are.

**Again.** After a 503 or a broken connection nobody may know whether a call was done. One that must not be done twice takes an
idempotency key where its description has the header \`Idempotency-Key\`: repeated with it, the call is done once and gets the same answer.
`.trim();
