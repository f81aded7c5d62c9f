import type SMTPConnection from 'nodemailer/lib/smtp-connection';

/** What a connection logs in with: a password, or an access token of OAuth 2.0. */
export type Login =
  | { readonly user: string; readonly password: string }
  | { readonly user: string; readonly accessToken: string };

type MailerLogin = SMTPConnection.AuthenticationType;
type LoginHandler = NonNullable<SMTPConnection.Options['customAuth']>[string];
type LoginDialogue = Pick<Parameters<LoginHandler>[0], 'auth' | 'sendCommand'>;

/** The SASL mechanisms with user and password that nodemailer supports. */
const WITH_PASSWORD = ['PLAIN', 'LOGIN', 'CRAM-MD5'];
/** The mechanism of Google and Microsoft for access tokens, older than RFC 7628. */
const XOAUTH2 = 'XOAUTH2';
/** The maximum length of a command, including CRLF (RFC 5321, section 4.5.3.1.4). */
const MAX_COMMAND_OCTETS = 512;

/** The SASL mechanisms that a login can use. */
export function mechanismsOf(login: Login): readonly string[] {
  return 'password' in login ? WITH_PASSWORD : [XOAUTH2];
}

/** What nodemailer needs to know of a login when it connects. */
export function mailerLoginOptions(login: Login | undefined): Pick<SMTPConnection.Options, 'customAuth'> {
  return login !== undefined && 'accessToken' in login ? { customAuth: { [XOAUTH2]: logInWithToken } } : {};
}

/** The login in the form of nodemailer. */
export function mailerLogin(login: Login): MailerLogin {
  const { user } = login;
  return 'password' in login
    ? { user, pass: login.password }
    : { user, pass: login.accessToken, method: XOAUTH2 };
}

/** What of a login must not be shown, as it is and as the mechanisms send it. */
export function secretsOf(login: Login): string[] {
  const { user } = login;
  return 'password' in login
    ? [`\0${user}\0${login.password}`, login.password, user]
    : [saslOf(user, login.accessToken), login.accessToken, user];
}

/**
 * Logs in with an access token. It is part of the command only where that is short enough (RFC 4954, section 4): Microsoft's tokens are not, and Dovecot
 * refuses the line that nodemailer would send.
 *
 * @throws when the relay refuses it
 */
export async function logInWithToken({ auth, sendCommand }: LoginDialogue): Promise<void> {
  const { user, pass } = auth.credentials;
  const response = Buffer.from(saslOf(user, pass), 'utf8').toString('base64');
  const command = `AUTH ${XOAUTH2}`;
  const whole = `${command} ${response}`;
  const isShort = whole.length + '\r\n'.length <= MAX_COMMAND_OCTETS;
  let reply = await sendCommand(isShort ? whole : command);
  if (!isShort && reply.status === 334) reply = await sendCommand(response);
  // A refusal can begin with its reason as a challenge, which is answered by an empty line.
  if (reply.status === 334) reply = await sendCommand('');
  if (reply.status !== 235) throw new Error('the relay has refused the access token');
}

function saslOf(user: string, accessToken: string): string {
  return `user=${user}\x01auth=Bearer ${accessToken}\x01\x01`;
}
