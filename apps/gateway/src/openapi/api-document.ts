import { hash } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { documentOf } from './document.ts';
import { routesOf } from './routes.ts';

/** The OpenAPI document, generated once per process. */
export class ApiDocument {
  /** The document as JSON, encoded once for all answers. */
  readonly bytes: Buffer;
  /** An entity tag (RFC 9110, section 8.8.3). */
  readonly tag: string;

  /**
   * @param publicUrl the public URL of the gateway, without a trailing slash
   * @throws Error for a route without a description, so that the app does not start
   */
  constructor(controllers: readonly Type[], publicUrl: string) {
    this.bytes = Buffer.from(JSON.stringify(documentOf(routesOf(controllers), publicUrl)));
    this.tag = `"${hash('sha256', this.bytes, 'base64url')}"`;
  }
}
