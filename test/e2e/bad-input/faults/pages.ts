/** Splits a list of URL-encoded values at its spaces. */
const words = (text: string): string[] => text.trim().split(/\s+/);
const LONG = 'x'.repeat(2_000);

/** Invalid values of `limit`, URL-encoded. */
export const INVALID_LIMITS: readonly string[] = [
  '',
  LONG,
  ...words(
    '0 -1 -0 101 1000 99999999999999999999 1.0 1.5 .5 1e1 1E2 0x10 0b1 1_0 1,0 +1 %2B1 %201 1%20 1%0a 1%00',
  ),
  ...words(
    'one ten NaN Infinity -Infinity null undefined true false [] %5B1%5D {} * %25 limit 1;2 1|2 1-- 50;DROP',
  ),
  ...words("1' %EF%BC%91%EF%BC%90 %D9%A1 %E2%85%A0 01 010 00000000000000000001"),
];

export const INVALID_SORTS: readonly string[] = [
  '',
  LONG,
  ...words(
    'asc desc createdAt createdAt. .desc createdAt.up createdAt.DESC CREATEDAT.desc createdat.desc 1 0 null true',
  ),
  ...words(
    'created_at.desc createdAt.descending createdAt.asc,id createdAt.asc.desc createdAt%20desc createdAt:desc',
  ),
  ...words(
    '-createdAt %2BcreatedAt id.asc updatedAt.desc name.asc id status.asc to.asc __proto__ constructor [] *',
  ),
  ...words(
    'createdAt.desc%20 %20createdAt.desc createdAt.desc%00 createdAt.desc%0a createdAt.asc;DROP%20TABLE%20emails',
  ),
  ...words('%22createdAt.desc%22 createdAt..desc createdAt%2Edesc%2E c%D0%B3eatedAt.desc'),
];

/** Values of `startAt` that no list has ever returned. */
const INVALID_STARTS: readonly string[] = [
  '',
  LONG,
  ...words(
    '%20 0 1 -1 x null undefined true NaN * %25 %00 %0a [] {} MQ== eyJpZCI6MX0= __proto__ now yesterday 09:30Z',
  ),
  ...words(
    '2030-01-31 2030-01-31T09:30:00 2030-02-30T09:30:00Z 1900000000 2030-01-31T24:00:00Z 2030-01-31T09:30:00Z,x',
  ),
  ...words(
    '2030-01-31T09:30:00Z%20 %202030-01-31T09:30:00Z 2030-01-31%2009:30:00Z 01h455vb4pex5vsknk084sn02',
  ),
  ...words('01h455vb4pex5vsknk084sn02qq 81h455vb4pex5vsknk084sn02q 01H455VB4PEX5VSKNK084SN02Q'),
  ...words("01890a5d-ac96-774b-bcce-b302099a8057 '%20OR%201=1-- %3Cscript%3E ..%2f..%2fetc%2fpasswd"),
];

/** Invalid values of `startAt` for lists whose cursor is a time. */
export const INVALID_TIME_CURSORS: readonly string[] = [
  ...INVALID_STARTS,
  ...words('01h455vb4pex5vsknk084sn02q aki_01h455vb4pex5vsknk084sn02q'),
];

/** Invalid values of `startAt` for lists whose cursor is opaque. */
export const INVALID_OPAQUE_CURSORS: readonly string[] = [
  ...INVALID_STARTS,
  ...words(
    '2030-01-31T09:30:00Z 2030-01-31T09:30:00.000Z trs_01h455vb4pex5vsknk084sn02q _01h455vb4pex5vsknk084sn02q',
  ),
  'z'.repeat(26),
];

/** Parameters that no list has. */
export const UNKNOWN_PARAMETERS: readonly string[] = [
  ...words(
    'page=2 offset=10 cursor=x Limit=1 LIMIT=1 startat=x start_at=x sortBy=x order=asc limit%20=1 limit[0]=1',
  ),
  ...words('startAt[$ne]=x __proto__[a]=x constructor=x =x %00=x'),
];
