import { afterEach } from '@jest/globals';
import { ScriptedSmtpServer, type SinkScript, SmtpSink, type SmtpSinkOptions } from '@posthorn/testing';
import { SmtpTransport, type SmtpTransportOptions } from './smtp-transport.ts';

export const ENVELOPE = { from: 'a@example.com', to: 'b@example.com' };
export const MESSAGE = Buffer.from('Subject: hello\r\n\r\nhello\r\n');

/** What is closed after the test, in this order: transports come before the relays that they are connected to. */
export const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

/** A transport that is closed after the test. */
export function transportTo(url: string, options?: SmtpTransportOptions): SmtpTransport {
  const transport = new SmtpTransport(url, options);
  open.unshift(transport);
  return transport;
}

/** A relay that says what its script tells it to, and offers these extensions. */
export async function scripted(
  script?: SinkScript,
  extensions: readonly string[] = [],
): Promise<ScriptedSmtpServer> {
  const server = await ScriptedSmtpServer.start(script, { extensions });
  open.push(server);
  return server;
}

/** A relay that keeps what it receives. */
export async function sinkWith(options?: SmtpSinkOptions): Promise<SmtpSink> {
  const sink = await SmtpSink.start(options);
  open.push(sink);
  return sink;
}

/** The URL of a relay, with a user and a password. */
export function withLogin({ url }: { readonly url: string }): string {
  return url.replace('//', '//joe:hunter2@');
}
