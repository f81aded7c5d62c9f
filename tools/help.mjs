// npm run help: what can be run here.
import { pathToFileURL } from 'node:url';

/** A sentence for every script of package.json, in the order in which a newcomer needs them. @type {Record<string, string>} */
export const SENTENCES = {
  'up': 'Starts everything on this machine and prints how to send the first email (--detach to return).',
  'down': 'Stops what up started; the data stays.',
  'nuke': 'Stops it and removes its data, keys and logs.',
  'send-corpus': 'Sends eleven real emails through the running stack and waits for each in the inbox.',
  'posthorn': 'The operators’ command line: workspaces, identities, keys, pause and resume.',
  'test': 'Runs all tests with a Postgres and a Redis of their own (a path after -- runs some).',
  'check': 'Runs every check that needs no services, the unit tests among them.',
  'check:format': 'Lists files that prettier would format differently.',
  'check:lint': 'Looks for mistakes that the compiler does not see.',
  'check:layers': 'Says which import breaks the layers of tools/layers.mjs.',
  'check:types': 'Compiles everything, tests and tools too.',
  'check:unused': 'Finds files, exports and packages that nobody uses.',
  'check:unit': 'Runs the unit tests.',
  'format': 'Formats every file with prettier.',
  'build': 'Builds every lib and app; what has not changed is taken from the cache.',
  'generate': 'Generates the Prisma client from prisma/schema.',
  'migrate': 'Brings the database at DATABASE_URL to the newest migration.',
  'prisma': 'Prisma’s own command line, also where its native engine is absent.',
  'images': 'Builds the images without a container engine, starts them and sends an email through them.',
  'bench': 'Measures accepting and sending against baselines of the same run.',
  'complete-lock':
    'After npm install: completes package-lock.json with packages for other platforms, so that npm ci accepts it everywhere.',
  'help': 'Shows this.',
};

function main() {
  const width = Math.max(...Object.keys(SENTENCES).map((name) => name.length));
  const line = ([name, sentence]) => `  npm run ${name.padEnd(width)}  ${sentence}`;
  process.stdout.write(`${Object.entries(SENTENCES).map(line).join('\n')}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main();
}
