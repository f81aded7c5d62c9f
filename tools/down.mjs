// npm run down: stops what `npm run up` started; the data stays.
import { say } from './stack/progress.mjs';
import { stopSupervisor } from './stack/stop-supervisor.mjs';

const HELP = `npm run down
Stops everything that npm run up started, in order. The data stays in .posthorn for the next npm run up.`;

if (process.argv.includes('--help') || process.argv.includes('-h')) say(HELP);
else if (await stopSupervisor())
  say('Posthorn is down. Its data stays in .posthorn; npm run nuke removes it.');
else say('Posthorn was not up.');
