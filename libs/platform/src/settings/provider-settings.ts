import { isLoopback, type RoleValues } from '@posthorn/domain';
import { IsBoolean, IsOptional, Matches } from 'class-validator';
import type { CrossValidated } from './read-settings.ts';
import { Setting } from './setting.ts';
import { IsWebAddress } from './url-with-scheme.ts';

const LIST = /^[^,]+(?:,[^,]+)*$/;
const CLAIM = /^[\x21-\x7e]{1,200}$/;

/** An identity provider, and how its claims map to names and roles. */
export interface ProviderOptions {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: it is a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: string;
  readonly nameClaim: string;
  readonly roleClaim: string;
  readonly roles: RoleValues;
}

/** How operators sign in to the dashboard. */
export class ProviderSettings implements CrossValidated {
  @Setting(
    'The issuer of the identity provider (OpenID Connect) that operators sign in to the dashboard with. Unset: operators sign in with passwords.',
    { example: 'https://login.example.com/realms/staff', defaultText: 'none' },
  )
  @IsOptional()
  @IsWebAddress()
  OIDC_ISSUER?: string;

  @Setting('The client id of the dashboard at the provider.', { example: 'posthorn', defaultText: 'none' })
  @IsOptional()
  @Matches(CLAIM)
  OIDC_CLIENT_ID?: string;

  @Setting(
    'The client secret of the dashboard at the provider. Unset: it is a public client, for which PKCE is enough.',
    {
      secret: true,
      defaultText: 'none',
    },
  )
  @IsOptional()
  @Matches(/^[\x20-\x7e]{1,1000}$/)
  OIDC_CLIENT_SECRET?: string;

  @Setting('The scopes that the dashboard requests, separated by spaces; `openid` must be one of them.')
  @Matches(/^[!-~ ]{1,500}$/)
  OIDC_SCOPES = 'openid profile';

  @Setting('The claim that contains the name of a person; choose one that people cannot change themselves.')
  @Matches(CLAIM)
  OIDC_NAME_CLAIM = 'preferred_username';

  @Setting(
    'The claim that roles are derived from, a string or a list; a dot selects a property of an object, as in `realm_access.roles`.',
  )
  @Matches(CLAIM)
  OIDC_ROLE_CLAIM = 'groups';

  @Setting(
    'The values of that claim that make somebody an operator, who may make changes, separated by commas.',
    {
      example: 'mail-operators',
      defaultText: 'none',
    },
  )
  @IsOptional()
  @Matches(LIST)
  OIDC_OPERATOR_VALUES?: string;

  @Setting(
    'The values of that claim that make somebody a viewer, who may only read, separated by commas; everybody else is refused.',
    {
      example: 'staff,support',
      defaultText: 'none',
    },
  )
  @IsOptional()
  @Matches(LIST)
  OIDC_VIEWER_VALUES?: string;

  @Setting('Whether dashboard accounts may sign in with passwords.')
  @IsBoolean()
  PASSWORD_SIGN_IN = true;

  /** Undefined: no provider is configured. */
  get options(): ProviderOptions | undefined {
    if (this.OIDC_ISSUER === undefined) return undefined;
    return {
      issuer: this.OIDC_ISSUER,
      clientId: this.OIDC_CLIENT_ID ?? '',
      clientSecret: this.OIDC_CLIENT_SECRET,
      scopes: this.OIDC_SCOPES,
      nameClaim: this.OIDC_NAME_CLAIM,
      roleClaim: this.OIDC_ROLE_CLAIM,
      roles: { operator: splitList(this.OIDC_OPERATOR_VALUES), viewer: splitList(this.OIDC_VIEWER_VALUES) },
    };
  }

  faults(): string[] {
    const { options } = this;
    if (options === undefined)
      return this.PASSWORD_SIGN_IN
        ? []
        : ['PASSWORD_SIGN_IN is false and OIDC_ISSUER is not set: nobody could sign in'];
    const { issuer, clientId, roles, scopes } = options;
    const { protocol, hostname } = new URL(issuer);
    return [
      ...(clientId === '' ? ['OIDC_CLIENT_ID is not set; with OIDC_ISSUER it must be'] : []),
      ...(scopes.split(' ').includes('openid')
        ? []
        : ['OIDC_SCOPES has no `openid`, without which no provider says who somebody is']),
      ...(protocol === 'https:' || isLoopback(hostname)
        ? []
        : ['OIDC_ISSUER begins with http://, which only a provider on this machine may']),
      ...(roles.operator.length + roles.viewer.length === 0
        ? [
            'OIDC_OPERATOR_VALUES and OIDC_VIEWER_VALUES are not set: nobody would have a role; set one of them',
          ]
        : []),
    ];
  }
}

function splitList(text = ''): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}
