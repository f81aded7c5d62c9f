// npm run posthorn -- …: the operators' command line. It needs the built libs and a database.
import { main } from './posthorn/main.mjs';

// What hangs, such as a connection to a server that does not answer, must not keep it from ending.
process.exit(await main(process.argv.slice(2)));
