import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describedAnswers } from './described-answers.ts';

/** An answer with its complete body. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The exact body. */
  readonly text: string;
  /** The body as JSON; `{}` if it is not JSON. */
  readonly body: Record<string, unknown>;
  readonly durationMs: number;
}

/** The Email object of an answer (F4). */
export interface AcceptedEmail {
  readonly id: string;
  readonly messageId: string;
  readonly status: string;
  readonly to: string;
  readonly type: string;
  readonly from: string;
  readonly subject: string;
  readonly groupBy?: string;
}

interface TimelineEntry {
  readonly event: string;
  readonly createdAt: string;
  readonly [detail: string]: unknown;
}

/** An email with its timeline and engagement (`GET /v1/emails/{id}`). */
export interface ShownEmail extends AcceptedEmail {
  readonly createdAt: string;
  readonly sendAt: string | null;
  readonly sentAt: string | null;
  readonly timeline: readonly TimelineEntry[];
  /** Whether it was opened and clicked, and by whom. */
  readonly engagement: Readonly<Record<string, unknown>>;
}

export interface RequestOptions {
  /** The secret of another key; null: no `Authorization` header. */
  readonly key?: string | null;
  readonly headers?: Record<string, string>;
}

/** The HTTP interface of a gateway, for one key. */
export class Api {
  constructor(
    readonly url: string,
    private readonly key: string,
  ) {}

  get(path: string, options: RequestOptions = {}): Promise<Answer> {
    return this.request('GET', path, undefined, options);
  }

  /** Posts a value as JSON; strings and bytes are posted unchanged. */
  post(path: string, body: unknown, options: RequestOptions = {}): Promise<Answer> {
    return this.send('POST', path, body, options);
  }

  /** The same with any method; undefined: no body. */
  send(method: string, path: string, body: unknown, options: RequestOptions = {}): Promise<Answer> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    return this.request(method, path, isRaw ? body : JSON.stringify(body), options);
  }

  /** Sends a request. @throws when the answer is none that the OpenAPI document describes */
  async request(
    method: string,
    path: string,
    body: string | Uint8Array | undefined,
    { key = this.key, headers = {} }: RequestOptions = {},
  ): Promise<Answer> {
    const described = await describedAnswers(this.url);
    const startedAt = performance.now();
    const response = await fetch(this.url + path, {
      method,
      // Tests check redirects; they do not follow them.
      redirect: 'manual',
      // As bytes, so that fetch adds no Content-Type of its own.
      ...(body === undefined ? {} : { body: new Uint8Array(Buffer.from(body)) }),
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...headers,
      },
    });
    const received = await response.text();
    const durationMs = performance.now() - startedAt;
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      text: received,
      body: parsed(received),
      durationMs,
    };
    described.expect(method, path, answer);
    return answer;
  }

  /** Sends a request that HTTP clients would refuse to send, and reads the whole answer. It must contain `Connection: close`. */
  async raw(head: readonly string[], body: string | Buffer = ''): Promise<Answer> {
    const startedAt = performance.now();
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]));
    const [answerHead, received = ''] = (await text(socket)).split('\r\n\r\n', 2) as [string, string?];
    const [statusLine, ...lines] = answerHead.split('\r\n') as [string, ...string[]];
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s, 2) as [string, string]));
    const durationMs = performance.now() - startedAt;
    return {
      status: Number(statusLine.split(' ')[1]),
      headers,
      text: received,
      body: parsed(received),
      durationMs,
    };
  }
}

/** A part of a successful answer. @throws with the answer if it was not successful */
export function partIn<Part>({ status, text, body }: Answer, name: string): Part {
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return body[name] as Part;
}

/** The Email object of a successful answer. @throws with the answer if it was not successful */
export function emailIn<Email extends AcceptedEmail = AcceptedEmail>(answer: Answer): Email {
  return partIn(answer, 'email');
}

/** Whether the answer is the replayed answer of an earlier call. */
export function isReplay(answer: Answer): boolean {
  return answer.headers.get('idempotent-replayed') === 'true';
}

/** The status of each answer, in their order. */
export function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map((answer) => answer.status);
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
