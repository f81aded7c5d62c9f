/**
 * A program that posts to the URL of its first argument and prints the result; run in environments that lack a resource. With `files` as
 * the second argument, it exhausts its file descriptors before posting.
 */
import { openSync } from 'node:fs';
import { parseAddressRange } from '@posthorn/domain';
import { WebhookClient } from './webhook-client.ts';

function openAllFileDescriptors(): void {
  try {
    for (;;) openSync('/dev/null', 'r');
  } catch {
    // All are open.
  }
}

const [url = '', exhausted] = process.argv.slice(2);
const networks = ['127.0.0.0/8', '10.0.0.0/8'].map((range) => parseAddressRange(range)!);
const client = new WebhookClient({
  policy: { allowsHttp: true, networks },
  lookUp: () => Promise.resolve({ kind: 'absent' }),
});
const post = (): Promise<unknown> =>
  client.post({ url, headers: {}, body: Buffer.from('{}'), deadlineMs: 15_000 });
// Loads what is loaded lazily, while there are file descriptors.
await post();
if (exhausted === 'files') openAllFileDescriptors();
process.stdout.write(JSON.stringify(await post()));
client.close();
