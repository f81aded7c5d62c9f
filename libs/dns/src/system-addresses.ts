import { lookup } from 'node:dns/promises';

/**
 * The addresses at a name as the system finds them: in its hosts file, with its search list, at its name servers.
 *
 * @throws as `dns.lookup` does
 */
export async function systemAddresses(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
