/** Malformed ids, as they appear in the path of a URL. They are answered like ids that do not exist. */
export function invalidIds(prefix: string): string[] {
  const suffix = '01h455vb4pex5vsknk084sn02q';
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
    suffix,
    `_${suffix}`,
    `${prefix}${suffix}`,
    `${prefix}-${suffix}`,
    `${prefix}__${suffix}`,
    `x${prefix}_${suffix}`,
    `${prefix}_${suffix.slice(1)}`,
    `${prefix}_${suffix}q`,
    `${prefix}_8${suffix.slice(1)}`,
    `${prefix}_z${suffix.slice(1)}`,
    ...['i', 'l', 'o', 'u', 'A', '-', '_', '.', '%20', '%0a', '%09', '%7f'].map(
      (letter) => `${prefix}_${suffix.slice(0, -1)}${letter}`,
    ),
    `${prefix}_${suffix}`.toUpperCase(),
    `${prefix.toUpperCase()}_${suffix}`,
    `${prefix}_${suffix}%20`,
    `%20${prefix}_${suffix}`,
    `${prefix}_${suffix}%00`,
    '%00',
    `${prefix}_${suffix}%0d%0aX-A:%20b`,
    `%EF%BB%BF${prefix}_${suffix}`,
    `${prefix}_%EF%BC%90${suffix.slice(1)}`,
    `${prefix}_${suffix}%2f`,
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
    `${prefix}_${suffix},${prefix}_${suffix}`,
  ];
}

/** Well-formed ids that do not exist. */
export function unknownIds(prefix: string): string[] {
  return [
    `${prefix}_${'0'.repeat(26)}`,
    `${prefix}_7${'z'.repeat(25)}`,
    `${prefix}_01h455vb4pex5vsknk084sn02q`,
  ];
}

/** Well-formed ids with the prefixes of other resources. */
export function idsWithOtherPrefixes(prefix: string): string[] {
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
