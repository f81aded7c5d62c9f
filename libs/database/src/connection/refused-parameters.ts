import { CannotStart } from '@posthorn/kernel';

const OWN_TIMEOUT = 'Posthorn sets its own timeouts, which this would replace: leave it out';

/** What DATABASE_URL must not contain, and why. The driver ignores `schema`, and prefers the timeouts of the URL to those of our connections. */
const REFUSED: Readonly<Record<string, string>> = {
  schema:
    'the tables are in the first schema of the search_path, whatever this says: leave it out, and use a database of its own for each installation',
  statement_timeout: OWN_TIMEOUT,
  lock_timeout: OWN_TIMEOUT,
  idle_in_transaction_session_timeout: OWN_TIMEOUT,
  query_timeout: OWN_TIMEOUT,
};

/** DATABASE_URL has a parameter that would not do what it says, or would replace a setting that our statements rely on. */
class ParameterRefused extends CannotStart {
  constructor(name: string) {
    super(`DATABASE_URL contains ${name}=…: ${REFUSED[name]}`);
  }
}

/** @throws ParameterRefused for a URL with a parameter that it must not have */
export function refuseParameters(url: string): void {
  const parameters = URL.parse(url)?.searchParams ?? new URLSearchParams();
  // As Prisma's examples have it; the tables are there.
  if (parameters.get('schema') === 'public') parameters.delete('schema');
  const refused = Object.keys(REFUSED).find((name) => parameters.has(name));
  if (refused !== undefined) throw new ParameterRefused(refused);
}
