// npm run down: stops what `npm run up` started; the data stays.
import { say } from './stack/progress.mjs';
import { runScript } from './stack/script.mjs';
import { stopSupervisor } from './stack/stop-supervisor.mjs';

const HELP = `npm run down
Stops everything that npm run up started, in order. The data stays in .posthorn for the next npm run up.`;

async function down() {
  const wasUp = await stopSupervisor();
  say(
    wasUp
      ? 'Posthorn is down. Its data stays in .posthorn; npm run nuke removes it.'
      : 'Posthorn was not up.',
  );
}

await runScript({ help: HELP, options: {}, work: down });
