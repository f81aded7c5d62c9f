// The baseline for accepting: a plain Express 5 server that answers with the body that it was sent.
import { createServer } from 'node:http';
import express from 'express';
import { answerParent, listen } from './bench-process.mjs';

const app = express();
app.post('/v1/emails', express.json({ limit: '1mb' }), (request, response) => {
  response.json(request.body);
});

answerParent({ listen: () => listen(createServer(app)) });
