import { isLoopback } from '@posthorn/domain';
import { IsOptional, Matches } from 'class-validator';
import type { CrossValidated } from './read-settings.ts';
import { Setting } from './setting.ts';
import { IsWebAddress } from './url-with-scheme.ts';

/** How relays are logged in to with access tokens (OAuth 2.0) instead of passwords. */
export class RelayTokenSettings implements CrossValidated {
  @Setting(
    'The token endpoint (OAuth 2.0) for the access tokens that a relay is logged in to with, if `SMTP_URL` names a user without a password. Unset: relays are logged in to with passwords alone.',
    {
      example: 'https://login.microsoftonline.com/contoso.example.com/oauth2/v2.0/token',
      defaultText: 'none',
    },
  )
  @IsOptional()
  @IsWebAddress()
  SMTP_OAUTH_TOKEN_URL?: string;

  @Setting('The client id of Posthorn at the token endpoint.', { example: 'posthorn', defaultText: 'none' })
  @IsOptional()
  @Matches(/^[\x20-\x7e]{1,1000}$/)
  SMTP_OAUTH_CLIENT_ID?: string;

  @Setting('The client secret of Posthorn at the token endpoint. Unset: it is a public client.', {
    secret: true,
    defaultText: 'none',
  })
  @IsOptional()
  @Matches(/^[\x20-\x7e]{1,1000}$/)
  SMTP_OAUTH_CLIENT_SECRET?: string;

  @Setting('The scope of the access tokens, if the token endpoint needs one: several, separated by spaces.', {
    example: 'https://outlook.office365.com/.default',
    defaultText: 'none',
  })
  @IsOptional()
  @Matches(/^[!-~ ]{1,1000}$/)
  SMTP_OAUTH_SCOPE?: string;

  @Setting(
    'The refresh token of the user in `SMTP_URL`, if it is the user who has granted access. Unset: the client requests tokens for itself (client credentials).',
    { secret: true, defaultText: 'none' },
  )
  @IsOptional()
  @Matches(/^[\x20-\x7e]{1,8192}$/)
  SMTP_OAUTH_REFRESH_TOKEN?: string;

  /** The options of `AccessTokens` of `@posthorn/smtp`; undefined: there is no token endpoint. */
  get options() {
    if (this.SMTP_OAUTH_TOKEN_URL === undefined) return undefined;
    return {
      tokenUrl: this.SMTP_OAUTH_TOKEN_URL,
      clientId: this.SMTP_OAUTH_CLIENT_ID ?? '',
      clientSecret: this.SMTP_OAUTH_CLIENT_SECRET,
      scope: this.SMTP_OAUTH_SCOPE,
      refreshToken: this.SMTP_OAUTH_REFRESH_TOKEN,
    };
  }

  faults(): string[] {
    const { options } = this;
    if (options === undefined) return [];
    const { tokenUrl, clientId, clientSecret, refreshToken } = options;
    const { protocol, hostname } = new URL(tokenUrl);
    return [
      ...(clientId === '' ? ['SMTP_OAUTH_CLIENT_ID is not set; with SMTP_OAUTH_TOKEN_URL it must be'] : []),
      ...(protocol === 'https:' || isLoopback(hostname)
        ? []
        : ['SMTP_OAUTH_TOKEN_URL begins with http://, which only a token endpoint on this machine may']),
      ...(clientSecret === undefined && refreshToken === undefined
        ? [
            'SMTP_OAUTH_CLIENT_SECRET and SMTP_OAUTH_REFRESH_TOKEN are not set: no token could be requested; set one of them',
          ]
        : []),
    ];
  }
}
