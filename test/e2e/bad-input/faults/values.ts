/** Values to try in every field: those that its schema does not allow must be refused. */
export const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  42,
  1e300,
  '',
  ' ',
  'x',
  '\n',
  'x'.repeat(100_000),
  'nonesuch',
  '2030-01-31',
  [],
  [null],
  [[]],
  [1],
  [''],
  ['x', 'x'],
  [{}],
  {},
  { a: 1 },
  { '': null },
  { toString: 'x' },
];

/** Values to try in every query parameter, URL-encoded. */
export const QUERY_VALUES: readonly string[] = [
  '',
  'x'.repeat(2_000),
  ...'%20 x 0 -1 101 1.5 1e1 +1 %2B1 0x1 01x NaN null true 1%00 1%0a %EF%BC%91 [] {} %5B1%5D'.split(' '),
  ...'* 1;2 1,2 %27%20OR%201=1 <script> CREATEDAT.DESC'.split(' '),
];

/** Strings that are refused everywhere, as values and as keys of objects. */
export const IMPOSSIBLE: readonly string[] = ['\0', 'a\0b', '\ud800', 'a\udfff'];
