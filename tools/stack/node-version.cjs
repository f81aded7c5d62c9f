// Loaded before a program, whose imports an older Node cannot resolve: it would end in a trace. Written for any Node.
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
