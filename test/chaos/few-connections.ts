const CONNECTIONS = 20;
const SLOW_CONNECTIONS = 5;

/** Dispatchers with so few connections that most deliveries wait for one. */
export const FEW_CONNECTIONS = {
  WEBHOOK_CONNECTIONS: String(CONNECTIONS),
  WEBHOOK_SLOW_CONNECTIONS: String(SLOW_CONNECTIONS),
};

/**
 * The most deliveries that such a process may have posted but not recorded: two for each connection, and those that wait for an answer
 * without a permit (here only when the machine stands still).
 */
export const UNRECORDED = 2 * CONNECTIONS + 3 * CONNECTIONS + 2 * SLOW_CONNECTIONS;
