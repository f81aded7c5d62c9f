import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './processes.mjs';
import { ROOT } from './runtime.mjs';

/** What is checked out: the release and, in a clone, the commit. @returns {Promise<string>} */
export async function checkedOut() {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const commit = await run({ command: 'git', args: ['rev-parse', '--short', 'HEAD'] }).catch(() => undefined);
  return commit === undefined ? version : `${version}, commit ${commit.trim()}`;
}
