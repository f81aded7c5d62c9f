import { hash } from 'node:crypto';
import type { OnModuleInit, Type } from '@nestjs/common';
import type { DiscoveryService } from '@nestjs/core';
import { documentOf } from './document.ts';
import { routesOf } from './routes.ts';

/** The document of the interface, made once: the routes of a process don't change. */
export class ApiDocument implements OnModuleInit {
  /** As JSON; as bytes, which all who are sent them share. */
  bytes = Buffer.alloc(0);
  /** An entity tag (RFC 9110, section 8.8.3). */
  tag = '';

  /** @param publicUrl the address of the gateway as callers see it, without a slash at its end */
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly publicUrl: string,
  ) {}

  /** A route that does not describe itself keeps the app from starting. */
  onModuleInit(): void {
    const controllers = this.discovery.getControllers().map(({ metatype }) => metatype as Type);
    this.bytes = Buffer.from(JSON.stringify(documentOf(routesOf(controllers), this.publicUrl)));
    this.tag = `"${hash('sha256', this.bytes, 'base64url')}"`;
  }
}
