import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeServer, listenOnLoopback, originOf } from './loopback.ts';

/** What a token endpoint answers. */
export interface TokenAnswer {
  /** Default: 200. */
  readonly status?: number;
  readonly body: unknown;
}

/** Decides the answer to a request by its form and number, from 1; undefined: there is no answer. */
export type TokenScript = (form: URLSearchParams, number: number) => TokenAnswer | undefined;

/** A token endpoint of OAuth 2.0 on loopback (RFC 6749, section 3.2). */
export class TokenServer {
  /** The form of each request. */
  readonly requests: URLSearchParams[] = [];

  private constructor(
    private readonly server: Server,
    public script: TokenScript,
  ) {}

  /** @param script default: the tokens `token-1`, `token-2` … for an hour */
  static async start(
    script: TokenScript = (_form, number) => ({
      body: { access_token: `token-${number}`, token_type: 'Bearer', expires_in: 3_600 },
    }),
  ): Promise<TokenServer> {
    const server = createServer();
    const tokens = new TokenServer(server, script);
    server.on('request', (request, response) => void tokens.answer(request, response));
    await listenOnLoopback(server);
    return tokens;
  }

  get url(): string {
    return `${originOf(this.server)}/token`;
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    this.requests.push(form);
    const answer = this.script(form, this.requests.length);
    if (answer === undefined) return;
    response.writeHead(answer.status ?? 200, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  }
}
