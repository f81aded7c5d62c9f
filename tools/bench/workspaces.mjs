/**
 * Makes workspaces that may send from example.com, through the same use cases as everybody.
 *
 * @param {string} databaseUrl
 * @param {string[]} names
 * @returns {Promise<{ id: string, key: string }[]>} `key`: the secret of an API_USER
 */
export async function makeWorkspaces(databaseUrl, names) {
  // Not before the libs are built.
  const { ApiKeyStore, IdentityStore, openDatabase, WorkspaceStore } =
    await import('../../libs/database/dist/index.js');
  const { addIdentity, createApiKey, createWorkspace } = await import('../../libs/use-cases/dist/index.js');
  const database = openDatabase({ url: databaseUrl, poolSize: 2, applicationName: 'posthorn-bench' });
  try {
    const made = [];
    for (const name of names) {
      const { id } = await createWorkspace(new WorkspaceStore(database), name, null);
      await addIdentity(new IdentityStore(database), id, { domain: 'example.com' }, true);
      const { secretKey } = await createApiKey(new ApiKeyStore(database), id, 'Bench', 'API_USER');
      made.push({ id, key: secretKey });
    }
    return made;
  } finally {
    await database.close();
  }
}
