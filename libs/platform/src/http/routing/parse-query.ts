import { Refusal } from '@posthorn/kernel';
import { parse, type ParsedUrlQuery } from 'node:querystring';

/** How much of the undecodable text is shown in the refusal. */
const MAX_SHOWN_CHARACTERS = 60;

/** Node's default, 1,000, would silently drop any further ones, a filter of a list among them. The limit for headers also limits their number. */
const ANY_NUMBER = 0;

/**
 * Parses a query string as Express' simple parser does, but all of its parameters, and refuses invalid UTF-8 (`groupBy=B%FCcher`), as in a body. If it
 * were decoded as something else, a search for it would silently find nothing.
 *
 * @throws Refusal 400
 */
export function parseQuery(text: string | null): ParsedUrlQuery {
  let undecodable: string | undefined;
  const decode = (part: string): string => {
    try {
      return decodeURIComponent(part);
    } catch {
      return (undecodable = part);
    }
  };
  const query = parse(text ?? '', undefined, undefined, { decodeURIComponent: decode, maxKeys: ANY_NUMBER });
  if (undecodable === undefined) return query;
  const shown = undecodable.slice(0, MAX_SHOWN_CHARACTERS).replaceAll('`', '�');
  throw new Refusal(
    400,
    `The query has \`${shown}\`, which is not percent-encoded UTF-8; encode it so, with \`%25\` for each \`%\` itself`,
  );
}
