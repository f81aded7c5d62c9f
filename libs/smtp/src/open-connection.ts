import type { Transmission } from '@posthorn/domain';
import type { AccessTokens } from './access-tokens.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { RelayConnection } from './relay-connection.ts';

/**
 * Connects to the relay and logs in, with the password of its URL or with an access token. A token that the relay refuses before it expires may
 * have been revoked: then another is tried, once.
 *
 * @param tokens for a relay whose URL names a user without a password
 */
export async function openConnection(
  settings: ConnectionSettings,
  tokens: AccessTokens | undefined,
): Promise<RelayConnection | Transmission> {
  const { credentials } = settings.address;
  if (credentials === undefined) return RelayConnection.open(settings, undefined);
  const { user, password } = credentials;
  if (password !== undefined) return RelayConnection.open(settings, { user, password });
  for (let isLast = false; ; isLast = true) {
    const accessToken = await tokens!.get().catch((error: Error) => error);
    if (typeof accessToken !== 'string') return { kind: 'broken', stage: 'auth', error: accessToken.message };
    const opened = await RelayConnection.open(settings, { user, accessToken });
    const isTokenStale = isLoginRefused(opened) && tokens!.refused(accessToken);
    if (!isTokenStale || isLast) return opened;
  }
}

/** RFC 4954, section 6: the credentials are invalid, in contrast to a relay that does not let this client log in now (454) or in this way (504). */
function isLoginRefused(opened: RelayConnection | Transmission): boolean {
  return (
    'kind' in opened && opened.kind === 'refused' && opened.stage === 'auth' && opened.reply.code === 535
  );
}
