/** @type {import('@posthorn/domain').Actor} */
const BENCH = { kind: 'operator', name: 'bench' };

/**
 * Creates workspaces that may send from example.com, with the use cases that the command line uses. The domains have DKIM keys, none of them
 * published.
 *
 * @param {string} databaseUrl
 * @param {string} keyRing as ENCRYPTION_KEYS has it
 * @param {string[]} names
 * @returns {Promise<{ id: string, key: string, editorKey: string }[]>} `key`: the secret of an API_USER; `editorKey`: of an EDITOR
 */
export async function makeWorkspaces(databaseUrl, keyRing, names) {
  // Only now: the benchmark may have to build them first.
  const { ApiKeyStore, IdentityChanges, IdentityStore, waitForDatabase, openDatabase, WorkspaceStore } =
    await import('@posthorn/database');
  const { addIdentity, createApiKey, createWorkspace, DkimKeyMaker } = await import('@posthorn/use-cases');
  const { parseKeyRing, SecretBox } = await import('@posthorn/signing');
  const parsed = parseKeyRing(keyRing);
  if ('fault' in parsed) throw new Error(parsed.fault);
  const database = openDatabase({ url: databaseUrl, poolSize: 2, applicationName: 'posthorn-bench' });
  const secretBox = new SecretBox(parsed.ring);
  const keys = new DkimKeyMaker({ secretBox, clock: database.clock });
  try {
    await waitForDatabase(database);
    const made = [];
    for (const name of names) {
      const { id } = await createWorkspace(new WorkspaceStore(database), BENCH, name, null);
      const identity = await addIdentity(new IdentityStore(database), id, BENCH, {
        domain: 'example.com',
        verified: true,
      });
      await new IdentityChanges(database).giveKeys(id, identity.id, await keys.make(id, identity.id));
      const keyOf = async (role) => {
        const key = { displayName: 'Bench', role };
        return (await createApiKey(new ApiKeyStore(database), id, BENCH, key)).secretKey;
      };
      made.push({ id, key: await keyOf('API_USER'), editorKey: await keyOf('EDITOR') });
    }
    // So that the DNS is not asked about a domain that is not ours.
    await database.pool.query('UPDATE domain_checks SET due_at = NULL');
    return made;
  } finally {
    await database.close();
  }
}
