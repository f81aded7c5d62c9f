import { isIPv6 } from 'node:net';
import DNS from 'dns2';

const ANY_PORT = 0;
const LOOPBACK = '127.0.0.1';
const PORT_TRIES = 20;
const TTL_SECONDS = 1;

/** How questions about a name are answered. */
export type DnsBehaviour =
  /** With TXT records; an array is one record of several strings. An answer that is too large for UDP is truncated and must be asked for over TCP. */
  | { readonly txt: readonly (string | readonly string[])[]; readonly delayMs?: number }
  /** With addresses: IPv4 ones for A, IPv6 ones for AAAA. */
  | {
      readonly addresses: readonly string[];
      readonly delayMs?: number;
      /** It waits for this before it answers. */
      readonly after?: Promise<unknown>;
      readonly isSilentAbout?: 'A' | 'AAAA';
    }
  /** With MX records for these hosts, the preferred first, and TXT records; an empty host says that the domain takes no mail. */
  | { readonly mx: readonly string[]; readonly txt?: readonly (string | readonly string[])[] }
  /** With a CNAME record, and the records of its target. */
  | { readonly cname: string }
  | { readonly rcode: 'SERVFAIL' | 'REFUSED' | 'NXDOMAIN' }
  /** There is such a name, but it has no record of that type (NODATA). */
  | 'empty'
  /** No answer at all. */
  | 'silent'
  /** With bytes that are not a DNS message. */
  | 'garbage';

/** A question that was received. */
export interface DnsQuery {
  readonly name: string;
  /** The type as a number (RFC 1035, section 3.2.2): 1 is A, 16 TXT, 28 AAAA. */
  readonly type: number;
  readonly transport: 'udp' | 'tcp';
}

type Send = (message: DNS.Packet | Buffer) => unknown;

/** A name server on loopback, over UDP and TCP. It answers as the test has set; any other name does not exist (NXDOMAIN). */
export class DnsServer {
  /** All questions that were received, oldest first. */
  readonly queries: DnsQuery[] = [];
  private readonly behaviours = new Map<string, DnsBehaviour>();
  private readonly timers = new Set<NodeJS.Timeout>();

  private constructor(
    private readonly udp: InstanceType<typeof DNS.UDPServer>,
    private readonly tcp: InstanceType<typeof DNS.TCPServer>,
    /** Where it listens: `address:port`. */
    readonly address: string,
  ) {
    udp.on('request', (request: DNS.Packet, send: Send) => this.serve(request, send, 'udp'));
    tcp.on('request', (request: DNS.Packet, send: Send) => this.serve(request, send, 'tcp'));
  }

  static async start(): Promise<DnsServer> {
    for (let attempt = 0; attempt < PORT_TRIES; attempt += 1) {
      const tcp = DNS.createTCPServer();
      await new Promise<void>((resolve) => tcp.listen(ANY_PORT, LOOPBACK, resolve));
      const { port } = tcp.address() as { port: number };
      const udp = await listenUdp(port);
      if (udp !== undefined) return new DnsServer(udp, tcp, `${LOOPBACK}:${port}`);
      tcp.close(); // the UDP port of that number is taken
    }
    throw new Error('no port is free for both UDP and TCP');
  }

  /** Sets how questions about a name are answered from now on. */
  set(name: string, behaviour: DnsBehaviour): void {
    this.behaviours.set(name.toLowerCase(), behaviour);
  }

  /** Lets a name be answered with NXDOMAIN again. */
  remove(name: string): void {
    this.behaviours.delete(name.toLowerCase());
  }

  async close(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    await Promise.all([
      new Promise<void>((resolve) => this.udp.close(() => resolve())),
      new Promise<void>((resolve) => this.tcp.close(() => resolve())),
    ]);
  }

  private serve(request: DNS.Packet, send: Send, transport: DnsQuery['transport']): void {
    const { name, type } = request.questions[0]! as unknown as DnsQuery;
    this.queries.push({ name, type, transport });
    const behaviour = this.behaviours.get(name.toLowerCase()) ?? { rcode: 'NXDOMAIN' };
    if (behaviour === 'silent' || isSilentAbout(behaviour, type)) return;
    if (behaviour === 'garbage') {
      send(Buffer.concat([idOf(request), Buffer.from('this is no answer')]));
      return;
    }
    const answer = (): unknown => send(this.answerTo(request, name, type, behaviour));
    const delayMs = typeof behaviour === 'object' && 'delayMs' in behaviour ? behaviour.delayMs : undefined;
    const after = typeof behaviour === 'object' && 'after' in behaviour ? behaviour.after : undefined;
    if (after !== undefined) void after.then(answer);
    else if (delayMs === undefined) answer();
    else this.timers.add(setTimeout(answer, delayMs));
  }

  private answerTo(request: DNS.Packet, name: string, type: number, behaviour: DnsBehaviour): DNS.Packet {
    const response = DNS.Packet.createResponseFromRequest(request);
    if (typeof behaviour === 'object' && 'rcode' in behaviour)
      response.header.rcode = DNS.Packet.RCODE[behaviour.rcode];
    else response.answers.push(...this.recordsAt(name, type, behaviour));
    return response;
  }

  private recordsAt(name: string, type: number, behaviour: DnsBehaviour | undefined): DNS.Packet.Resource[] {
    if (typeof behaviour !== 'object' || 'rcode' in behaviour) return [];
    if ('cname' in behaviour) {
      const target = this.behaviours.get(behaviour.cname.toLowerCase());
      const alias = record(name, DNS.Packet.TYPE.CNAME, { domain: behaviour.cname });
      return [alias, ...this.recordsAt(behaviour.cname, type, target)];
    }
    if ('mx' in behaviour && type === DNS.Packet.TYPE.MX)
      return behaviour.mx.map((exchange, priority) => record(name, type, { exchange, priority }));
    if ('mx' in behaviour) return this.recordsAt(name, type, { txt: behaviour.txt ?? [] });
    if ('txt' in behaviour) return behaviour.txt.map((data) => record(name, DNS.Packet.TYPE.TXT, { data }));
    const ofFamily = behaviour.addresses.filter((address) => typeOf(address) === type);
    return ofFamily.map((address) => record(name, type, { address }));
  }
}

function record(name: string, type: number, data: object): DNS.Packet.Resource {
  const resource = { name, type, class: DNS.Packet.CLASS.IN, ttl: TTL_SECONDS, ...data };
  return resource as unknown as DNS.Packet.Resource;
}

function isSilentAbout(behaviour: DnsBehaviour, type: number): boolean {
  if (typeof behaviour !== 'object' || !('addresses' in behaviour)) return false;
  return behaviour.isSilentAbout !== undefined && DNS.Packet.TYPE[behaviour.isSilentAbout] === type;
}

function typeOf(address: string): number {
  return isIPv6(address) ? DNS.Packet.TYPE.AAAA : DNS.Packet.TYPE.A;
}

/** Undefined when the port is taken. */
async function listenUdp(port: number): Promise<InstanceType<typeof DNS.UDPServer> | undefined> {
  const udp = DNS.createUDPServer();
  try {
    await new Promise<void>((resolve, reject) => {
      udp.once('error', reject);
      udp.bind(port, LOOPBACK, resolve);
    });
    return udp;
  } catch {
    udp.close();
    return undefined;
  }
}

function idOf(request: DNS.Packet): Buffer {
  return Buffer.from([request.header.id >> 8, request.header.id & 0xff]);
}
