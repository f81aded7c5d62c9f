// The yardstick of accepting: Express 5 as everybody writes it, answering with the body that it was sent.
import { createServer } from 'node:http';
import express from 'express';
import { answerParent, listen } from './helper.mjs';

const app = express();
app.post('/v1/emails', express.json({ limit: '1mb' }), (request, response) => {
  response.json(request.body);
});

answerParent({ listen: () => listen(createServer(app)) });
