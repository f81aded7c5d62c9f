import { CannotStart } from '@posthorn/kernel';
import type pg from 'pg';

/** Stores all characters, and counts lengths in characters. */
const ENCODING = 'UTF8';

/** The encoding of the database cannot store all texts: `SQL_ASCII` counts a non-ASCII letter as several, and others lack most characters. */
class EncodingRefused extends CannotStart {
  constructor(encoding: string) {
    super(
      `The encoding of the database is ${encoding}, which does not keep every text as it is: recreate it with ENCODING '${ENCODING}' TEMPLATE template0`,
    );
  }
}

/** The locale of the database has other lower-case letters than English: in Turkish, `I` becomes `ı`. Addresses are compared in lower case. */
class LocaleRefused extends CannotStart {
  constructor(locale: string) {
    super(
      `The locale of the database (${locale}) would take INFO@example.com and info@example.com for different addresses: recreate it with LOCALE 'C.UTF-8' LOCALE_PROVIDER libc TEMPLATE template0`,
    );
  }
}

/** @throws EncodingRefused, LocaleRefused when the database stores or compares texts in another way than Posthorn relies on */
export async function refuseTextSettings(client: pg.Client): Promise<void> {
  // Before Postgres 17, the column with an ICU locale has another name.
  const sql = `
    SELECT current_setting('server_encoding') AS encoding,
           coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale', datctype) AS locale,
           lower('INFO') = 'info' AS "lowersAscii"
    FROM   pg_database d
    WHERE  datname = current_database()`;
  const { rows } = await client.query<{ encoding: string; locale: string; lowersAscii: boolean }>(sql);
  const { encoding, locale, lowersAscii } = rows[0]!;
  if (encoding !== ENCODING) throw new EncodingRefused(encoding);
  if (!lowersAscii) throw new LocaleRefused(locale);
}
