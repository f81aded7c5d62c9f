import XOAuth2 from 'nodemailer/lib/xoauth2';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';

/** What a connection logs in with: a password, or an access token of OAuth 2.0. */
export type Login =
  | { readonly user: string; readonly password: string }
  | { readonly user: string; readonly accessToken: string };

/** The SASL mechanisms that nodemailer supports; the last is Google's and Microsoft's, from before RFC 7628. */
const WITH_PASSWORD = ['PLAIN', 'LOGIN', 'CRAM-MD5'];
const WITH_TOKEN = ['XOAUTH2'];

/** The SASL mechanisms that a login can use. */
export function mechanismsOf(login: Login): readonly string[] {
  return 'password' in login ? WITH_PASSWORD : WITH_TOKEN;
}

/** The login in the form of nodemailer. */
export function mailerLogin(login: Login): SMTPConnection.AuthenticationType {
  const { user } = login;
  return 'password' in login
    ? { user, pass: login.password }
    : { type: 'oauth2', user, oauth2: new XOAuth2({ user, accessToken: login.accessToken }) };
}

/** What of a login must not be shown, as it is and as the mechanisms send it. */
export function secretsOf(login: Login): string[] {
  const { user } = login;
  return 'password' in login
    ? [`\0${user}\0${login.password}`, login.password, user]
    : [`user=${user}\x01auth=Bearer ${login.accessToken}\x01\x01`, login.accessToken, user];
}
