import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer, listenOnLoopback, originOf } from './loopback.ts';

/** A POST that was received. */
export interface ReceivedPost {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** How a receiver answers a POST. */
export interface ReceiverAnswer {
  readonly status: number;
  /** It waits this long before it answers. */
  readonly afterMs?: number;
  /** It waits for this before it answers. */
  readonly after?: Promise<unknown>;
}

/** A webhook receiver on loopback that answers as the test says and keeps what it receives. */
export class WebhookReceiver {
  readonly posts: ReceivedPost[] = [];
  /** How many POSTs are not answered yet. */
  inFlight = 0;

  private constructor(
    private readonly server: Server,
    /** Decides the answer to a POST; may be replaced. */
    public answer: (post: ReceivedPost) => ReceiverAnswer,
  ) {}

  static async start(answer: WebhookReceiver['answer'] = () => ({ status: 200 })): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server, answer);
    server.on('request', (request, response) => {
      void receiver.receive(request.url ?? '/', request.headers, buffer(request)).then(
        (status) => response.writeHead(status).end(),
        () => response.destroy(),
      );
    });
    await listenOnLoopback(server);
    return receiver;
  }

  url(path = '/'): string {
    return `${originOf(this.server)}${path}`;
  }

  postsTo(path: string): ReceivedPost[] {
    return this.posts.filter((post) => post.path === path);
  }

  close(): Promise<void> {
    return closeServer(this.server);
  }

  private async receive(path: string, headers: IncomingHttpHeaders, body: Promise<Buffer>): Promise<number> {
    this.inFlight += 1;
    try {
      const post = { path, headers, body: await body };
      this.posts.push(post);
      const { status, afterMs = 0, after } = this.answer(post);
      await after;
      if (afterMs > 0) await sleep(afterMs, undefined, { ref: false });
      return status;
    } finally {
      this.inFlight -= 1;
    }
  }
}
