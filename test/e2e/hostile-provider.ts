import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Said = Readonly<Record<string, unknown>>;

const KEY_ID = 'hostile';
const PIECE = Buffer.alloc(1024 * 1024, 'a');
const CLIENT = { id: 'posthorn', secret: 'a secret of the client' } as const;

/** An identity provider (OpenID Connect) on loopback that says of anybody, in any form, what a test tells it to. */
export class HostileProvider {
  readonly client = CLIENT;
  /** What it answers in place of what it should, by path. */
  readonly instead = new Map<string, RequestListener>();
  /** What its ID tokens say otherwise. */
  claims: Said = {};
  /** Makes an ID token of claims; by default as it should be. */
  makeToken: (claims: Said) => unknown = (claims) => this.signed(claims);
  /** What was asked for with the last sign-in. */
  nonce = '';
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

  private constructor(private readonly server: Server) {}

  static async start(): Promise<HostileProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const provider = new HostileProvider(server);
    server.on('request', (request, response) => provider.answer(request, response));
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Its public key, as text. */
  get publicKey(): string {
    return this.keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  }

  /** Behaves again. */
  reset(): void {
    this.instead.clear();
    this.claims = {};
    this.makeToken = (claims) => this.signed(claims);
  }

  /** A token as it should be, or signed with another key or header. */
  signed(claims: Said, header: Said = {}, key: KeyObject = this.keys.privateKey): string {
    const text = `${encoded({ alg: 'RS256', kid: KEY_ID, ...header })}.${encoded(claims)}`;
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  }

  /** What it says of itself, changed. */
  metadata(change: Said = {}): Said {
    const { issuer } = this;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      userinfo_endpoint: `${issuer}/userinfo`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      ...change,
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private readonly answer: RequestListener = (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const other = this.instead.get(path);
    if (other !== undefined) other(request, response);
    else sayJson(this.properly[path])(request, response);
  };

  private get properly(): Said {
    const { issuer, client, nonce, keys } = this;
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer, aud: client.id, sub: 'ada', nonce, iat: now, exp: now + 300 };
    const token = this.makeToken({ ...claims, groups: ['ops'], preferred_username: 'ada', ...this.claims });
    return {
      '/.well-known/openid-configuration': this.metadata(),
      '/keys': { keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: KEY_ID }] },
      '/token': { access_token: 'hunter2', token_type: 'bearer', id_token: token },
      '/userinfo': { sub: 'ada' },
    };
  }
}

/** A token that is signed with a text. */
export function signedByText(claims: Said, secret: string, alg = 'HS256'): string {
  const text = `${encoded({ alg })}.${encoded(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** A token that is not signed. */
export function unsigned(claims: Said): string {
  return `${encoded({ alg: 'none' })}.${encoded(claims)}.`;
}

/** Answers in JSON. */
export function sayJson(body: unknown, status = 200): RequestListener {
  return (_request, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

/** Answers without an end, as fast as it is read, and tells of how many bytes were taken. */
export function sayWithoutEnd(status: number, onSent: (bytes: number) => void): RequestListener {
  const goOn = (response: ServerResponse): void => {
    while (!response.destroyed) {
      onSent(PIECE.length);
      if (!response.write(PIECE)) return void response.once('drain', () => goOn(response));
    }
  };
  return (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).write('{"a":"');
    goOn(response);
  };
}

function encoded(said: Said): string {
  return Buffer.from(JSON.stringify(said)).toString('base64url');
}
