// npm run images: what `docker compose up --build` does, without an engine: builds every image, starts them, sends an email through them.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Images } from './images/build-images.mjs';
import { containerOf } from './images/container.mjs';
import { makeTemporaryFolder } from './stack/account.mjs';
import { ensureInstalled } from './stack/install.mjs';
import { freePort } from './stack/ports.mjs';
import { ensureDatabase, startPostgres } from './stack/postgres.mjs';
import { askedToStop, endAll, run, waitUntil } from './stack/processes.mjs';
import { say, step } from './stack/progress.mjs';
import { startRedis } from './stack/redis.mjs';
import { ROOT } from './stack/runtime.mjs';
import { runScript } from './stack/script.mjs';
import { newKeyRing } from './stack/secrets.mjs';
import { provideInbox } from './stack/services.mjs';

const HELP = `npm run images [-- --keep]
Does without a container engine what docker compose up --build does: the steps of the Dockerfile, each stage in a folder of its own
outside of the repository; then starts every app from its image as docker-compose.yml says (its environment, its command, an
account without rights that may not write there), sends an email through them, and stops them.
Some minutes, most of them npm ci.

  --keep   leave the folders there, and say where`;

const ARRIVED_WITHIN_MS = 15_000;
/** Without types, which are also dependencies of production packages. */
const DEV_PACKAGES = Object.keys(
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies,
).filter((name) => !name.startsWith('@types/'));

/** Run in reverse order. */
const cleanups = /** @type {(() => unknown)[]} */ ([]);

/** @param {{ keep?: boolean }} values */
async function main({ keep }) {
  await step('Packages', ensureInstalled, String);
  const { composedServices } = await import('./images/services.mjs');
  const directory = makeTemporaryFolder('images');
  if (keep) say(`In ${directory}`);
  else cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  const images = new Images(join(directory, 'stages'));
  for (const target of images.targets)
    await step(
      `Image ${target}`,
      () => images.build(target),
      (image) => refuseDevPackages(image),
    );
  const outside = await step('Postgres, Redis and an inbox', () => startServices(directory));
  const services = composedServices({
    ENCRYPTION_KEYS: newKeyRing(),
    PUBLIC_URL: 'http://localhost:3000',
    // Replaced by the inbox of this run.
    SMTP_URL: 'smtp://inbox:1025',
  });
  const [migrate, ...apps] = await Promise.all(
    services.map((service) => containerOf(service, images, outside, directory)),
  );
  if (migrate === undefined) throw new Error('docker-compose.yml has no service that migrates first');
  await step('Migrations', () => run(migrate.command));
  for (const app of apps) {
    await step(`App ${app.name}`, () => app.start());
    cleanups.push(() => app.kill());
  }
  await step('An email, from the gateway to the inbox', () => sendOne(migrate, apps, outside));
  for (const app of apps.toReversed()) await step(`Stopping ${app.name}`, () => app.stop());
}

/** Checks that an image has no development packages; whether it has what its app needs shows when that is started. */
function refuseDevPackages({ root, workdir }) {
  const found = DEV_PACKAGES.filter((name) => existsSync(join(root, workdir, 'node_modules', name)));
  if (found.length > 0) throw new Error(`There are packages in it that only we need: ${found.join(', ')}`);
  return '';
}

async function startServices(directory) {
  const ports = {
    postgres: await freePort(),
    redis: await freePort(),
    smtp: await freePort(),
    web: await freePort(),
  };
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    port: ports.postgres,
  });
  cleanups.push(postgres.stop);
  await ensureDatabase(postgres.url(), 'posthorn');
  const redis = await startRedis({
    directory: join(directory, 'redis'),
    port: ports.redis,
  });
  cleanups.push(redis.stop);
  const files = { directory: join(directory, 'inbox'), logFile: join(directory, 'inbox.log') };
  const inbox = await provideInbox(ports, files);
  cleanups.push(inbox.stop);
  return { ...ports, databaseUrl: postgres.url('posthorn') };
}

async function sendOne(tools, apps, { web }) {
  const posthorn = async (...words) =>
    JSON.parse(await run({ ...tools.command, args: ['tools/posthorn.mjs', ...words, '--json'] }));
  const { id } = await posthorn('workspace', 'create', '--name', 'Images');
  await posthorn('identity', 'create', '--workspace', id, '--domain', 'example.com', '--verified');
  const { secretKey } = await posthorn('key', 'create', '--workspace', id, '--name', 'Images');
  const { port } = apps.find(({ name }) => name === 'gateway');
  const email = {
    from: 'images@example.com',
    to: 'you@example.net',
    subject: 'From an image',
    html: '<p>It works.</p>',
  };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/emails`, {
    method: 'POST',
    headers: { 'Authorization': `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(email),
  });
  if (!answer.ok) throw new Error(`The gateway answered ${answer.status}: ${await answer.text()}`);
  const isThere = async () =>
    (await (await fetch(`http://127.0.0.1:${web}/api/messages?to=${email.to}`)).text()).includes(
      email.subject,
    );
  await waitUntil(isThere, { withinMs: ARRIVED_WITHIN_MS, what: 'The email' });
}

async function cleanUp() {
  for (const action of cleanups.splice(0).reverse()) await action();
}

await runScript({
  help: HELP,
  options: { keep: { type: 'boolean' } },
  work: async (values) => {
    void askedToStop()
      .then(endAll)
      .then(cleanUp)
      .finally(() => process.exit(130));
    try {
      await main(values);
      say('Every image works.');
    } finally {
      await cleanUp();
    }
  },
});
