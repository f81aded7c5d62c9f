// npm run posthorn -- …: the operators' command line. It needs the built libs and a database.
import { main } from './posthorn/main.mjs';

process.exitCode = await main(process.argv.slice(2));
