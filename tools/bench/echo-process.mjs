// The yardstick of accepting: Express 5 as everybody writes it, answering with the body that it was sent.
import express from 'express';
import { answerParent } from './helper.mjs';

const app = express();
app.post('/v1/emails', express.json({ limit: '1mb' }), (request, response) => {
  response.json(request.body);
});

answerParent({
  listen: () =>
    new Promise((resolve) => {
      const server = app.listen(0, '127.0.0.1', () => {
        resolve(/** @type {import('node:net').AddressInfo} */ (server.address()).port);
      });
    }),
});
