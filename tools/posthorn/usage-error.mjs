/** The command was called wrongly; the message says how to call it. */
export class UsageError extends Error {}

/** A problem that the operator must fix before the command can work. */
export class NotReady extends Error {}
