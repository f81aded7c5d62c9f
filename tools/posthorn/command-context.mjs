import { findDatabaseUrl } from './database-url.mjs';
import { findKeyRing } from './key-ring.mjs';
import { operatorName } from './operator.mjs';
import { NotReady } from './usage-error.mjs';
import { whenBuilt } from './when-built.mjs';

/** The minimum size of a pool; commands use only one connection at a time. */
const CONNECTIONS = 2;

/**
 * The use cases and stores that commands work with.
 *
 * @typedef {object} CommandContext
 * @property {typeof import('@posthorn/use-cases/operate')} useCases
 * @property {import('@posthorn/domain').Actor} actor who runs the command, for the audit log
 * @property {import('@posthorn/database').WorkspaceStore} workspaces
 * @property {import('@posthorn/database').ApiKeyStore} apiKeys
 * @property {import('@posthorn/database').IdentityStore} identities
 * @property {import('@posthorn/database').PausedLaneStore} pausedLanes
 * @property {import('@posthorn/database').OutboxStore} outbox
 * @property {import('@posthorn/database').EraStore} eras
 * @property {import('@posthorn/database').AuditLogStore} auditLog
 * @property {import('@posthorn/database').OperatorAccountStore} operators
 * @property {import('@posthorn/database').SealedSecretStore} sealedSecrets
 * @property {import('@posthorn/database').ErasureStore} erasure
 * @property {import('@posthorn/database').WorkspaceDeletionStore} deletion
 * @property {() => import('@posthorn/signing').SecretBox} openSecretBox throws NotReady when no key is set
 */

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
  const { useCases, database: lib, domain, settings } = await loadLibs();
  const { url, from } = findDatabaseUrl();
  settings.readSettings({ database: settings.DatabaseSettings }, { DATABASE_URL: url });
  const database = lib.openDatabase({ url, poolSize: CONNECTIONS, applicationName: 'posthorn-operator' });
  try {
    await connect(lib, database, { url, from });
    return await work({
      useCases,
      actor: domain.operator(name),
      workspaces: new lib.WorkspaceStore(database),
      apiKeys: new lib.ApiKeyStore(database),
      identities: new lib.IdentityStore(database),
      pausedLanes: new lib.PausedLaneStore(database),
      outbox: new lib.OutboxStore(database),
      eras: new lib.EraStore(database),
      auditLog: new lib.AuditLogStore(database),
      operators: new lib.OperatorAccountStore(database),
      sealedSecrets: new lib.SealedSecretStore(database),
      erasure: new lib.ErasureStore(database),
      deletion: new lib.WorkspaceDeletionStore(database),
      openSecretBox: () =>
        settings.readSettings({ secrets: settings.SecretSettings }, { ENCRYPTION_KEYS: findKeyRing() })
          .secrets.box,
    });
  } finally {
    await database.close();
  }
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
