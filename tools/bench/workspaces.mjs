/** @type {import('@posthorn/domain').Actor} */
const BENCH = { kind: 'operator', name: 'bench' };

/**
 * Makes workspaces that may send from example.com, through the same use cases as everybody.
 *
 * @param {string} databaseUrl
 * @param {string[]} names
 * @returns {Promise<{ id: string, key: string, editorKey: string }[]>} `key`: the secret of an API_USER; `editorKey`: of an EDITOR
 */
export async function makeWorkspaces(databaseUrl, names) {
  const { ApiKeyStore, IdentityStore, openDatabase, WorkspaceStore } = await built('database');
  const { addIdentity, createApiKey, createWorkspace } = await built('use-cases');
  const database = openDatabase({ url: databaseUrl, poolSize: 2, applicationName: 'posthorn-bench' });
  try {
    const made = [];
    for (const name of names) {
      const { id } = await createWorkspace(new WorkspaceStore(database), name, null);
      await addIdentity(new IdentityStore(database), id, { domain: 'example.com' }, true);
      const keyOf = async (role) => {
        const key = { displayName: 'Bench', role };
        return (await createApiKey(new ApiKeyStore(database), id, BENCH, key)).secretKey;
      };
      made.push({ id, key: await keyOf('API_USER'), editorKey: await keyOf('EDITOR') });
    }
    return made;
  } finally {
    await database.close();
  }
}

/** A lib as it is built: what runs is measured. Not to be imported before there is a build. */
function built(lib) {
  return import(new URL(`../../libs/${lib}/dist/index.js`, import.meta.url).href);
}
