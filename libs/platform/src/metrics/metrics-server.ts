import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { Logger } from 'pino';
import { collectDefaultMetrics, register } from 'prom-client';
import { readOpenFiles } from '../health/open-files.ts';
import { followFileLimit, metricsText } from './metrics.ts';

/** Serves `/metrics` on a separate port, which is not exposed by an ingress. */
export class MetricsServer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly server: Server;

  /** @param port 0: nothing is served */
  constructor(
    private readonly host: string,
    private readonly port: number,
    private readonly logger: Logger,
  ) {
    this.server = createServer({ requestTimeout: 5_000, maxHeaderSize: 8 * 1024 }, (request, response) => {
      if (request.method !== 'GET' || request.url !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      metricsText((err) => logger.warn({ err }, 'a metric cannot be measured')).then(
        (text) => response.writeHead(200, { 'Content-Type': register.contentType }).end(text),
        (err: unknown) => {
          logger.error({ err }, 'the metrics could not be served');
          response.writeHead(500).end();
        },
      );
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.port === 0) return;
    collectDefaultMetrics();
    followFileLimit(readOpenFiles);
    this.server.listen(this.port, this.host);
    await once(this.server, 'listening');
    this.logger.info({ port: this.port }, 'serving metrics');
  }

  beforeApplicationShutdown(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}
