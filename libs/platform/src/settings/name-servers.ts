import { isIP } from 'node:net';
import { ValidateBy } from 'class-validator';

const PORTED = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+))(?::(\d{1,5}))?$/i;
const HIGHEST_PORT = 65_535;

/** How a list of name servers is written, in words. */
export const NAME_SERVERS_FORM =
  'IP addresses, each with a port after a colon if it is not 53 (an IPv6 address then in brackets), separated by commas';

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
export function IsNameServers(): PropertyDecorator {
  return ValidateBy({
    name: 'isNameServers',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && parseNameServers(value) !== undefined,
      defaultMessage: () => `must be ${NAME_SERVERS_FORM}`,
    },
  });
}
