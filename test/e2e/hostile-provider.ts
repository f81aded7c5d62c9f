import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { closeServer, listenOnLoopback, originOf } from '@posthorn/testing';

type JsonRecord = Readonly<Record<string, unknown>>;

const KEY_ID = 'hostile';
const CHUNK = Buffer.alloc(1024 * 1024, 'a');
const CLIENT = { id: 'posthorn', secret: 'a secret of the client' } as const;

/** An identity provider (OpenID Connect) on loopback whose answers and ID tokens a test can replace with any others. */
export class HostileProvider {
  readonly client = CLIENT;
  /** Handlers that replace its regular answers, by path. */
  readonly overrides = new Map<string, RequestListener>();
  /** Claims that replace those of its ID tokens. */
  claims: JsonRecord = {};
  /** Makes an ID token from claims. Default: a valid one. */
  makeToken: (claims: JsonRecord) => unknown = (claims) => this.signed(claims);
  /** The nonce for its ID tokens. */
  nonce = '';
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

  private constructor(private readonly server: Server) {}

  static async start(): Promise<HostileProvider> {
    const server = createServer();
    await listenOnLoopback(server);
    const provider = new HostileProvider(server);
    server.on('request', (request, response) => provider.answer(request, response));
    return provider;
  }

  get issuer(): string {
    return originOf(this.server);
  }

  /** Its public key, in PEM. */
  get publicKey(): string {
    return this.keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  }

  /** Removes all replacements. */
  reset(): void {
    this.overrides.clear();
    this.claims = {};
    this.makeToken = (claims) => this.signed(claims);
  }

  /** A signed token. @param header fields to add to, or replace in, the header */
  signed(claims: JsonRecord, header: JsonRecord = {}, key: KeyObject = this.keys.privateKey): string {
    const text = `${encoded({ alg: 'RS256', kid: KEY_ID, ...header })}.${encoded(claims)}`;
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
  }

  /** Its discovery document. @param change fields to replace */
  metadata(change: JsonRecord = {}): JsonRecord {
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

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private readonly answer: RequestListener = (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const other = this.overrides.get(path);
    if (other !== undefined) other(request, response);
    else answerJson(this.regularAnswers[path])(request, response);
  };

  private get regularAnswers(): JsonRecord {
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

/** A token with an HMAC of a shared secret. */
export function signedByText(claims: JsonRecord, secret: string, alg = 'HS256'): string {
  const text = `${encoded({ alg })}.${encoded(claims)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

/** A token without a signature (`alg: none`). */
export function unsigned(claims: JsonRecord): string {
  return `${encoded({ alg: 'none' })}.${encoded(claims)}.`;
}

/** Answers in JSON. */
export function answerJson(body: unknown, status = 200): RequestListener {
  return (_request, response) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

/** Sends an endless body, as fast as it is read. @param onSent called with the size of each chunk */
export function answerEndlessly(status: number, onSent: (bytes: number) => void): RequestListener {
  const goOn = (response: ServerResponse): void => {
    while (!response.destroyed) {
      onSent(CHUNK.length);
      if (!response.write(CHUNK)) return void response.once('drain', () => goOn(response));
    }
  };
  return (_request, response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).write('{"a":"');
    goOn(response);
  };
}

function encoded(value: JsonRecord): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
