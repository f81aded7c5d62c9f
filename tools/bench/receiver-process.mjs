// A receiver of webhooks that costs next to nothing: it says 200 to each request.
import { createServer } from 'node:net';
import { answerParent } from './helper.mjs';

const END_OF_HEADER = '\r\n\r\n';
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** @param {import('node:net').Socket} socket */
function serve(socket) {
  let input = '';
  socket.setNoDelay(true).on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    input += chunk.toString('latin1');
    for (let end = endOfRequest(input); end > 0; end = endOfRequest(input)) {
      input = input.slice(end);
      socket.write(ANSWER);
    }
  });
}

/** 0 as long as the request has not come whole. @param {string} input */
function endOfRequest(input) {
  const end = input.indexOf(END_OF_HEADER);
  if (end < 0) return 0;
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(input.slice(0, end))?.[1] ?? 0);
  const whole = end + END_OF_HEADER.length + length;
  return input.length < whole ? 0 : whole;
}

answerParent({
  listen: () =>
    new Promise((resolve) => {
      const server = createServer(serve).listen(0, '127.0.0.1', () => {
        resolve(/** @type {import('node:net').AddressInfo} */ (server.address()).port);
      });
    }),
});
