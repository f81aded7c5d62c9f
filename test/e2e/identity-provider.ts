import { jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import Provider from 'oidc-provider';
import { closeServer, listenOnLoopback, originOf } from '@posthorn/testing';

/** The beginning of oidc-provider's warnings for production use, which are not printed. */
const ADVICE = 'oidc-provider ';

for (const level of ['info', 'warn'] as const) {
  const { [level]: say } = console;
  jest.spyOn(console, level).mockImplementation((...words: unknown[]) => {
    if (!String(words[0]).startsWith(ADVICE)) say(...words);
  });
}

/** An account of the provider. */
interface Person {
  readonly groups: readonly string[];
  /** The claim `preferred_username`. Default: the name. */
  readonly preferredUsername?: string;
}

/** The dashboard, as an OpenID Connect client. */
export interface RegisteredClient {
  readonly id: string;
  readonly secret: string;
  redirectUri: string;
}

/** Where and how a provider expects the client secret: encoded in the header (RFC 6749, section 2.3.1), not encoded there, or only in the body. */
type SecretPlace = 'header' | 'header, not encoded' | 'body';

interface JsonAnswer {
  readonly status: number;
  readonly body: string;
}

const JSON_KEYS = { 'content-type': 'application/json' };

/** An identity provider (OpenID Connect) on loopback. It accepts every name without checking a password. */
export class TestIdentityProvider {
  readonly client: RegisteredClient;
  /** The paths of all requests, without query strings. */
  readonly asked: string[] = [];
  /** Answers that replace the regular ones, by path. */
  readonly overrides = new Map<string, JsonAnswer>();

  private constructor(
    private readonly server: Server,
    redirectUri: string,
    private readonly secretPlace: SecretPlace,
  ) {
    this.client = { id: 'posthorn', secret: `secret-_.~${randomBytes(24).toString('hex')}`, redirectUri };
  }

  /** @param redirectUri of the dashboard, where the provider sends people back to */
  static async start(
    people: Readonly<Record<string, Person>>,
    redirectUri: string,
    secretPlace: SecretPlace = 'header',
  ): Promise<TestIdentityProvider> {
    const server = createServer();
    await listenOnLoopback(server);
    const provider = new TestIdentityProvider(server, redirectUri, secretPlace);
    provider.know(people);
    return provider;
  }

  /** Registers a dashboard at another address. */
  moveTo(redirectUri: string, people: Readonly<Record<string, Person>>): void {
    this.client.redirectUri = redirectUri;
    this.know(people);
  }

  get issuer(): string {
    return originOf(this.server);
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private know(people: Readonly<Record<string, Person>>): void {
    const method = this.secretPlace === 'body' ? 'client_secret_post' : 'client_secret_basic';
    const real = new Provider(this.issuer, configuration(this.client, people, method)).callback();
    this.server.removeAllListeners('request').on('request', this.listener(real));
  }

  private listener(real: RequestListener): RequestListener {
    return (request, response) => {
      const path = (request.url ?? '').split('?', 1)[0]!;
      this.asked.push(path);
      const other = this.overrides.get(path) ?? this.refusalOf(path, request.headers.authorization);
      if (other === undefined) real(request, response);
      else response.writeHead(other.status, JSON_KEYS).end(other.body);
    };
  }

  private refusalOf(path: string, authorization: string | undefined): JsonAnswer | undefined {
    const { id, secret } = this.client;
    const isWrong = authorization !== `Basic ${btoa(`${id}:${secret}`)}`;
    return this.secretPlace === 'header, not encoded' && path === '/token' && isWrong
      ? { status: 401, body: '{"error":"invalid_client"}' }
      : undefined;
  }
}

function configuration(
  { id, secret, redirectUri }: RegisteredClient,
  people: Record<string, Person>,
  secretMethod: string,
): object {
  return {
    clients: [
      {
        client_id: id,
        client_secret: secret,
        token_endpoint_auth_method: secretMethod,
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [new URL('/sign-in', redirectUri).href],
      },
    ],
    clientAuthMethods: [secretMethod],
    // Keycloak's default.
    ttl: { IdToken: 300 },
    claims: { profile: ['preferred_username'], groups: ['groups'] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    findAccount: (_context: unknown, name: string) => ({
      accountId: name,
      claims: () => ({
        sub: name,
        preferred_username: people[name]?.preferredUsername ?? name,
        groups: people[name]?.groups,
      }),
    }),
  };
}

/** An HTTP client that behaves like a browser: it keeps the cookies of each host and follows redirects. */
export class Visitor {
  private readonly cookies = new Map<string, Map<string, string>>();
  private readonly address = `10.${[...randomBytes(3)].join('.')}`;

  /** Sends one request, and does not follow redirects. @param form fields to post */
  async visit(url: string | URL, form?: Record<string, string>): Promise<Response> {
    const jar = this.jarOf(url);
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { 'Cookie': this.cookieFor(url), 'Accept': 'text/html', 'X-Forwarded-For': this.address },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) keep(jar, line);
    return answer;
  }

  /** The `Cookie` header for a host. */
  cookieFor(url: string | URL): string {
    return [...this.jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Requests a URL and follows redirects, up to a URL that begins with `end`, which is not requested. */
  async follow(
    url: string | URL,
    end?: string,
    form?: Record<string, string>,
  ): Promise<{ at: string; answer: Response }> {
    let at = String(url);
    let answer = await this.visit(at, form);
    for (let steps = 0; steps < 10; steps += 1) {
      const location = answer.headers.get('location');
      if (location === null) return { at, answer };
      at = new URL(location, at).href;
      if (end !== undefined && at.startsWith(end)) return { at, answer };
      answer = await this.visit(at);
    }
    throw new Error(`too many redirects: ${at}`);
  }

  /** Signs in at the provider, and consents. @returns the URL of the dashboard that the provider redirects to */
  async signInAtProvider(begin: string, name: string, end: string): Promise<string> {
    const { at, answer } = await this.follow(begin, end);
    if (at.startsWith(end)) return at;
    const login = await this.follow(formIn(await answer.text(), at), end, {
      prompt: 'login',
      login: name,
      password: 'x',
    });
    if (login.at.startsWith(end)) return login.at;
    const consent = formIn(await login.answer.text(), login.at);
    return (await this.follow(consent, end, { prompt: 'consent' })).at;
  }

  private jarOf(url: string | URL): Map<string, string> {
    const { host } = new URL(url);
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    return jar;
  }
}

function formIn(page: string, at: string): string {
  const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
  if (action === undefined) throw new Error(`no form at ${at}: ${page.slice(0, 500)}`);
  return new URL(action, at).href;
}

function keep(jar: Map<string, string>, line: string): void {
  const [, name, value] = /^([^=;]+)=([^;]*)/.exec(line)!;
  if (/expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name!);
  else jar.set(name!, value!);
}
