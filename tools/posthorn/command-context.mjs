import { findDatabaseUrl } from './database-url.mjs';
import { findKeyRing } from './key-ring.mjs';
import { operatorName } from './operator.mjs';
import { NotReady } from './usage-error.mjs';
import { whenBuilt } from './when-built.mjs';

/** The minimum size of a pool; commands use only one connection at a time. */
const CONNECTIONS = 2;

/** @typedef {ReturnType<typeof contextOf>} CommandContext */

/** Loads the built libs. @throws NotReady when they have not been built */
export async function loadLibs() {
  const [useCases, database, domain, settings] = await whenBuilt(() =>
    Promise.all([
      import('@posthorn/use-cases/operate'),
      import('@posthorn/database'),
      import('@posthorn/domain'),
      import('@posthorn/platform/settings'),
    ]),
  );
  return { useCases, database, domain, settings };
}

/**
 * Opens the database, runs the work with it, and closes it.
 *
 * @template T
 * @param {(context: CommandContext) => Promise<T>} work
 * @returns {Promise<T>}
 * @throws NotReady when there is no usable database
 */
export async function withCommandContext(work) {
  const name = operatorName();
  const libs = await loadLibs();
  const { database: lib, settings } = libs;
  const { url, from } = findDatabaseUrl();
  settings.readSettings({ database: settings.DatabaseSettings }, { DATABASE_URL: url });
  const database = lib.openDatabase({ url, poolSize: CONNECTIONS, applicationName: 'posthorn-operator' });
  try {
    await connect(lib, database, { url, from });
    return await work(contextOf(libs, database, name));
  } finally {
    await database.close();
  }
}

/**
 * The use cases and stores that commands work with. `actor`: who runs the command, for the audit log. `openSecretBox` throws NotReady when no key is set.
 *
 * @param {Awaited<ReturnType<typeof loadLibs>>} libs
 * @param {import('@posthorn/database').Database} database
 * @param {string} name
 */
function contextOf({ useCases, database: lib, domain, settings }, database, name) {
  return {
    useCases,
    actor: domain.operator(name),
    workspaces: new lib.WorkspaceStore(database),
    apiKeys: new lib.ApiKeyStore(database),
    identities: new lib.IdentityStore(database),
    pausedLanes: new lib.PausedLaneStore(database),
    heldEmails: new lib.HeldEmailStore(database),
    outbox: new lib.OutboxStore(database),
    retries: new lib.RetryStore(database),
    webhooks: new lib.WebhookSearchStore(database),
    eras: new lib.EraStore(database),
    auditLog: new lib.AuditLogStore(database),
    operators: new lib.OperatorAccountStore(database),
    sealedSecrets: new lib.SealedSecretStore(database),
    erasures: new lib.ErasureStore(database),
    deletion: new lib.WorkspaceDeletionStore(database),
    openSecretBox: () =>
      settings.readSettings({ secrets: settings.SecretSettings }, { ENCRYPTION_KEYS: findKeyRing() }).secrets
        .box,
  };
}

async function connect(lib, database, { url, from }) {
  try {
    // Fails at once when the database is unavailable: a person should not wait half a minute, as an app that starts does.
    await connectOnce(database).catch(lib.throwRefusedConnection);
    await lib.waitForDatabase(database);
  } catch (error) {
    // An error of the server itself is more specific.
    if (!lib.isOutage(error) || 'severity' in error) throw error;
    const { host, pathname } = new URL(url);
    const where = `${host}${pathname}`;
    throw new NotReady(
      `No database answers at ${where} (DATABASE_URL of ${from}): start it, or correct the URL`,
      {
        cause: error,
      },
    );
  }
}

async function connectOnce({ pool }) {
  (await pool.connect()).release();
}
