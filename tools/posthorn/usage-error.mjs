/** The command was not called as it can be; the message says how to mend it. */
export class UsageError extends Error {}

/** Something that the operator must see to before the command can work. */
export class NotReady extends Error {}
