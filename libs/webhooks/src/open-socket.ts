import { connect as connectTcp, isIPv6, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { PostFailure } from '@posthorn/domain';
import type { Deadline } from './deadline.ts';
import { connectFault, timedOut } from './fault.ts';
import type { Target } from './target.ts';

/** Maximum addresses to try, so that time is left for the response. */
const MAX_ADDRESSES = 4;
/** Maximum time for one address, if there are others. */
const ONE_ADDRESS_MS = 2_000;

/**
 * Opens a connection to one of the addresses of a target, with TLS if its URL is https. The certificate must be valid for the host of the URL, whatever the
 * environment says (NODE_TLS_REJECT_UNAUTHORIZED).
 *
 * @returns a connected socket with an error listener; a failure leaves no socket behind
 */
export function openSocket(
  target: Target,
  secureContext: SecureContext,
  deadline: Deadline,
): Promise<Socket | PostFailure> {
  return new Promise((resolve) => {
    const { isSecure } = target.place;
    const socket = isSecure
      ? openTls(target, secureContext, deadline)
      : connectTcp(tcpOptions(target, deadline));
    let step: 'connect' | 'tls' = 'connect';
    const fail = (failure: PostFailure): void => {
      socket.destroy();
      resolve(failure);
    };
    deadline.guard(() => fail(timedOut(step, deadline.ms)));
    socket.once('connect', () => {
      step = 'tls';
      if (!isSecure) resolve(socket);
    });
    socket.once('secureConnect', () => resolve(socket));
    socket.on('error', (error) => fail(connectFault(error, step)));
    socket.once('close', () => fail(connectFault({ code: 'ECONNRESET' }, step)));
  });
}

function openTls(target: Target, secureContext: SecureContext, deadline: Deadline): Socket {
  const { isName, host } = target.place;
  return connectTls({
    ...tcpOptions(target, deadline),
    secureContext,
    rejectUnauthorized: true,
    // An IP address is no valid server name (RFC 6066, section 3); the certificate is then checked against `host`.
    servername: isName ? host : '',
    ALPNProtocols: ['http/1.1'],
  });
}

function tcpOptions({ place, addresses }: Target, deadline: Deadline): TcpNetConnectOpts {
  const choice = inOrder(addresses);
  return {
    host: place.host,
    port: place.port,
    // Resolves the name to exactly the addresses that were checked.
    lookup: (_name, _options, done) => done(null, choice),
    noDelay: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: timeForOne(choice.length, deadline),
  };
}

/** The time per address; in whole milliseconds and at least 10, as Node requires. */
function timeForOne(addresses: number, deadline: Deadline): number {
  return Math.max(10, Math.floor(Math.min(ONE_ADDRESS_MS, deadline.ms / (addresses + 1))));
}

/** IPv4 first: nearly every receiver has it, and many networks lack IPv6. */
function inOrder(addresses: readonly string[]): { address: string; family: number }[] {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return all.sort((one, other) => one.family - other.family).slice(0, MAX_ADDRESSES);
}
