// Loaded before a program, because an older Node cannot resolve its imports and would only print a stack trace. Must run on any Node.
'use strict';

var OLDEST = [20, 19];

var version = process.versions.node.split('.').map(Number);
if (version[0] < OLDEST[0] || (version[0] === OLDEST[0] && version[1] < OLDEST[1])) {
  process.stdout.write(
    'Node ' +
      process.versions.node +
      ' is too old: install Node ' +
      OLDEST.join('.') +
      ' or newer (https://nodejs.org/en/download), then run this again.\n',
  );
  process.exit(1);
}
