import * as oidc from 'openid-client';

/** Sends the client secret in the header, or in the body when the provider's metadata says that it accepts it only there. */
export function sendClientSecret(secret: string): oidc.ClientAuth {
  const inBody = oidc.ClientSecretPost(secret);
  return (provider, client, body, headers) => {
    const methods = provider.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    if (!methods.includes('client_secret_basic') && methods.includes('client_secret_post'))
      return inBody(provider, client, body, headers);
    // Some providers (such as GitLab) do not decode it, so only what must be encoded is: not "-", for example, which ClientSecretBasic encodes.
    const credentials = [client.client_id, secret].map(encodeURIComponent).join(':');
    headers.set('Authorization', `Basic ${btoa(credentials)}`);
  };
}
