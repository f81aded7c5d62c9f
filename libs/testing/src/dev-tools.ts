/** An event that the browser sends unprompted. */
export interface DevToolsEvent {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** The session of the page; undefined if the event is about the browser. */
  readonly sessionId?: string;
}

interface Reply extends Partial<DevToolsEvent> {
  readonly id?: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

interface Pending {
  readonly resolve: (result: Record<string, unknown>) => void;
  readonly reject: (error: Error) => void;
}

const CLOSED = 'the browser has closed the connection';

/** A connection to a browser over the Chrome DevTools Protocol (1.3), with flat sessions. */
export class DevTools {
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<(event: DevToolsEvent) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data)) as Reply));
    socket.addEventListener('close', () => this.#fail(new Error(CLOSED)));
  }

  /** @param url as the browser prints it when it starts */
  static async connect(url: string): Promise<DevTools> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error(`no DevTools at ${url}`)));
    });
    return new DevTools(socket);
  }

  /** Sends a command and waits for its result. @throws when the browser refuses it, or closes or has closed the connection */
  send(method: string, params: object = {}, sessionId?: string): Promise<Record<string, unknown>> {
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      // What is sent on a closed WebSocket is discarded without an error.
      if (this.#socket.readyState !== WebSocket.OPEN) throw new Error(CLOSED);
      this.#pending.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  /** Calls `listener` for every event from now on. */
  listen(listener: (event: DevToolsEvent) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    this.#socket.close();
  }

  #receive({ id, result = {}, error, method, params = {}, sessionId }: Reply): void {
    if (method !== undefined) {
      const session = sessionId === undefined ? {} : { sessionId };
      for (const listener of this.#listeners) listener({ method, params, ...session });
    }
    const pending = this.#pending.get(id ?? -1);
    this.#pending.delete(id ?? -1);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(new Error(error.message));
  }

  #fail(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
