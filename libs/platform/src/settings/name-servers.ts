import { isIP } from 'node:net';
import { HasForm } from './has-form.ts';

const ADDRESS_WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::(\d{1,5}))?$/i;
const MAX_PORT = 65_535;

/** Parses a list of name servers, into the form that Node accepts. @returns undefined when one is invalid */
export function parseNameServers(text: string): string[] | undefined {
  const servers = text.split(',').map((part) => part.trim());
  return servers.every(isNameServer) ? servers : undefined;
}

function isNameServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, v6, v4, port = '53'] = ADDRESS_WITH_PORT.exec(text) ?? [];
  const isPort = Number(port) > 0 && Number(port) <= MAX_PORT;
  return isPort && (v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6);
}

/** Accepts a list of name servers. */
export const IsNameServers = (): PropertyDecorator =>
  HasForm(
    'IP addresses, each with a port after a colon if it is not 53 (an IPv6 address then in brackets), separated by commas',
    (text) => parseNameServers(text) !== undefined,
  );
