// npm run posthorn -- …: the operators' command line. It needs the built libs and a database.
import { main } from './posthorn/main.mjs';
import { exitOnSignals } from './stack/exit-on-signals.mjs';

exitOnSignals();

// Exits explicitly, because open handles, such as a connection to a server that does not answer, would keep the process alive.
process.exit(await main(process.argv.slice(2)));
