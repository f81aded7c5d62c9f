/** What no id of a path is, as it stands in the URL: answered as an id that does not exist. */
export function noIds(prefix: string): string[] {
  const sound = '01h455vb4pex5vsknk084sn02q';
  return [
    '1',
    '0',
    '-1',
    'null',
    'undefined',
    'NaN',
    'true',
    '*',
    '.htaccess',
    '...',
    '~',
    '_',
    prefix,
    `${prefix}_`,
    sound,
    `_${sound}`,
    `${prefix}${sound}`,
    `${prefix}-${sound}`,
    `${prefix}__${sound}`,
    `x${prefix}_${sound}`,
    `${prefix}_${sound.slice(1)}`,
    `${prefix}_${sound}q`,
    `${prefix}_8${sound.slice(1)}`,
    `${prefix}_z${sound.slice(1)}`,
    ...['i', 'l', 'o', 'u', 'A', '-', '_', '.', '%20', '%0a', '%09', '%7f'].map(
      (letter) => `${prefix}_${sound.slice(0, -1)}${letter}`,
    ),
    `${prefix}_${sound}`.toUpperCase(),
    `${prefix.toUpperCase()}_${sound}`,
    `${prefix}_${sound}%20`,
    `%20${prefix}_${sound}`,
    `${prefix}_${sound}%00`,
    '%00',
    `${prefix}_${sound}%0d%0aX-A:%20b`,
    `%EF%BB%BF${prefix}_${sound}`,
    `${prefix}_%EF%BC%90${sound.slice(1)}`,
    `${prefix}_${sound}%2f`,
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..%5c..%5c',
    '01890a5d-ac96-774b-bcce-b302099a8057',
    `${prefix}_01890a5d-ac96-774b-bcce-b302099a8057`,
    '507f1f77bcf86cd799439011',
    '%27%20OR%201=1--',
    '%22%3Balert(1)',
    '%7B%22%24ne%22%3Anull%7D',
    '__proto__',
    'constructor',
    'toString',
    '%F0%9F%98%80',
    `${prefix}_${'0'.repeat(25)}`,
    `${prefix}_${'z'.repeat(26)}`,
    `${prefix}_${'x'.repeat(4_000)}`,
    `${prefix}_${sound},${prefix}_${sound}`,
  ];
}

/** What does not exist, although it has the form of an id. */
export function idsOfNothing(prefix: string): string[] {
  return [
    `${prefix}_${'0'.repeat(26)}`,
    `${prefix}_7${'z'.repeat(25)}`,
    `${prefix}_01h455vb4pex5vsknk084sn02q`,
  ];
}

/** A well-formed id of other things, of which none can be meant. */
export function idsOfOtherThings(prefix: string): string[] {
  const prefixes = [
    'trs',
    'wrk',
    'aki',
    'wh',
    'ctc',
    'tpl',
    'evt',
    'dlv',
    'idn',
    'inv',
    'sup',
    'usr',
    'phk',
    'x',
  ];
  return prefixes.filter((other) => other !== prefix).map((other) => `${other}_01h455vb4pex5vsknk084sn02q`);
}
