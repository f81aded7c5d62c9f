import { run } from './processes.mjs';
import { nodeBinary, withInstalledBinaries } from './runtime.mjs';
import { readJson, WORKSPACE_FILE, writeJson } from './state.mjs';

/**
 * @typedef {{ workspaceId: string, keys: { editor: string, apiUser: string }, operator: { name: string, password: string } }} LocalWorkspace
 */

/**
 * The workspace for trying out the local stack, and an operator for its dashboard: those of the last run if the keys are still valid, or
 * else new ones.
 *
 * @param {string} apiUrl
 * @param {Record<string, string>} env what the operators' command line needs
 * @returns {Promise<LocalWorkspace>}
 */
export async function provideWorkspace(apiUrl, env) {
  const known = readJson(WORKSPACE_FILE);
  if (
    known?.operator !== undefined &&
    (await isValidKey(apiUrl, known.keys.editor)) &&
    (await isValidKey(apiUrl, known.keys.apiUser))
  )
    return known;
  const made = await makeWorkspace(env);
  writeJson(WORKSPACE_FILE, made);
  return made;
}

/** Whether the gateway accepts a key. */
async function isValidKey(apiUrl, key) {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${apiUrl}/v1/api-keys/check`, { headers });
  await answer.arrayBuffer();
  return answer.status !== 401;
}

async function makeWorkspace(env) {
  const posthorn = async (...command) => {
    const args = ['tools/posthorn.mjs', ...command, '--json'];
    return JSON.parse(await run({ command: nodeBinary(), args, env: withInstalledBinaries(env) }));
  };
  const { id } = await posthorn('workspace', 'create', '--name', 'Local');
  const inWorkspace = ['--workspace', id];
  // Together, because each starts a process, which takes longer than its work.
  const [{ name, password }, editor, apiUser] = await Promise.all([
    posthorn('operator', 'create', '--name', `local-${id.slice(-6)}`, '--role', 'operator'),
    posthorn('key', 'create', ...inWorkspace, '--name', 'Editor', '--role', 'EDITOR'),
    posthorn('key', 'create', ...inWorkspace, '--name', 'API user', '--role', 'API_USER'),
    posthorn('identity', 'create', ...inWorkspace, '--domain', 'example.com', '--verified'),
  ]);
  return {
    operator: { name, password },
    workspaceId: id,
    keys: { editor: editor.secretKey, apiUser: apiUser.secretKey },
  };
}
