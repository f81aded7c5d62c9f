import { hash } from 'node:crypto';
import type { OnModuleInit, Type } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { documentOf } from './document.ts';
import { routesOf } from './routes.ts';

/** The OpenAPI document, generated once per process. */
export class ApiDocument implements OnModuleInit {
  /** The document as JSON, encoded once for all answers. */
  bytes = Buffer.alloc(0);
  /** An entity tag (RFC 9110, section 8.8.3). */
  tag = '';

  /** @param publicUrl the public URL of the gateway, without a trailing slash */
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly publicUrl: string,
  ) {}

  /** Prevents the start of an app with a route that has no description. */
  onModuleInit(): void {
    const controllers = this.discovery.getControllers().map(({ metatype }) => metatype as Type);
    this.bytes = Buffer.from(JSON.stringify(documentOf(routesOf(controllers), this.publicUrl)));
    this.tag = `"${hash('sha256', this.bytes, 'base64url')}"`;
  }
}
