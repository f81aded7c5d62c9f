import { isIP } from 'node:net';
import { IsOfForm } from './is-of-form.ts';

const PORTED = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::(\d{1,5}))?$/i;
const HIGHEST_PORT = 65_535;

/** The name servers of a list, each in the form that Node takes. @returns undefined when it is none */
export function parseNameServers(text: string): string[] | undefined {
  const servers = text.split(',').map((part) => part.trim());
  return servers.every(isNameServer) ? servers : undefined;
}

function isNameServer(text: string): boolean {
  if (isIP(text) !== 0) return true;
  const [, v6, v4, port = '53'] = PORTED.exec(text) ?? [];
  const isPort = Number(port) > 0 && Number(port) <= HIGHEST_PORT;
  return isPort && (v6 === undefined ? isIP(v4 ?? '') === 4 : isIP(v6) === 6);
}

/** Accepts a list of name servers. */
export const IsNameServers = (): PropertyDecorator =>
  IsOfForm(
    'IP addresses, each with a port after a colon if it is not 53 (an IPv6 address then in brackets), separated by commas',
    (text) => parseNameServers(text) !== undefined,
  );
