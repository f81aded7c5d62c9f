import { lookup } from 'node:dns/promises';

/**
 * The addresses of a name by the system's resolver: its hosts file, search list and name servers.
 *
 * @throws as `dns.lookup` does
 */
export async function systemAddresses(name: string): Promise<string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
