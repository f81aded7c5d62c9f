import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner } from '@nestjs/core';
import { type Access, accessOf } from '@posthorn/auth';
import { descriptionOf, type RouteDescription } from './describes.ts';
import { PLATFORM_ROUTES } from './platform-routes.ts';

/** A route of the gateway with its metadata. */
export interface Route {
  /** In lower case, as the document names it. */
  readonly method: string;
  /** With parameters in braces: `/v1/emails/{email_id}`. */
  readonly path: string;
  readonly description: RouteDescription;
  /** Undefined: public. */
  readonly access: Access | undefined;
}

/** Whether a route is a POST without a body, which refuses a body with fields. */
export function takesNoBody({ method, description, access }: Route): boolean {
  return method !== 'get' && access !== undefined && description.body === undefined;
}

/** The names of a path's parameters. */
export function partsOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/** The routes of controllers, in their order. @throws Error for one without a description */
export function routesOf(controllers: readonly Type[]): Route[] {
  return controllers.flatMap((controller) => {
    const prototype = controller.prototype as Record<string, object>;
    return new MetadataScanner()
      .getAllMethodNames(prototype)
      .map((name) => prototype[name]!)
      .filter((handler) => Reflect.hasMetadata(METHOD_METADATA, handler))
      .map((handler) => routeOf(controller, handler));
  });
}

function routeOf(controller: Type, handler: object): Route {
  const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod].toLowerCase();
  const path = joined([controller, handler].map((part) => pathOf(part)));
  const description = descriptionOf(handler) ?? PLATFORM_ROUTES[path];
  if (description === undefined)
    throw new Error(`${method} ${path} does not describe itself; add @Describes`);
  return { method, path, description, access: accessOf(controller, handler) };
}

function pathOf(part: object): string {
  const path: unknown = Reflect.getMetadata(PATH_METADATA, part);
  if (typeof path !== 'string') throw new Error('a route in the document must have exactly one path');
  return path;
}

function joined(parts: readonly string[]): string {
  const segments = parts.flatMap((part) => part.split('/')).filter((segment) => segment !== '');
  return `/${segments.map((segment) => segment.replace(/^:(.+)$/, '{$1}')).join('/')}`;
}
