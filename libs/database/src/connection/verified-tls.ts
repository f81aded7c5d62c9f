const LIBPQ_MEANING = /[?&]uselibpqcompat=true(?=[&#]|$)/;
const WEAKER_MODES = /(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/g;

/**
 * The URL with `sslmode=verify-full` in place of a mode that verifies less in libpq. Release 8 of the driver takes each of them for that, but warns in every
 * process that release 9 will not: here they keep their meaning. A URL that asks for libpq's (`uselibpqcompat=true`) gets it.
 */
export function withVerifiedTls(url: string): string {
  return LIBPQ_MEANING.test(url) ? url : url.replace(WEAKER_MODES, 'verify-full');
}
