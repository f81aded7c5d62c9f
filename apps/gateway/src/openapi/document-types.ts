/** A part of the document: JSON, of the shape that OpenAPI 3.1 gives it. */
export type Part = Readonly<Record<string, unknown>>;

/** The document of the interface (OpenAPI 3.1). */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: Part;
  readonly servers: readonly Part[];
  readonly tags: readonly Part[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Part>>>>;
  /** The deliveries to webhooks, by the name of the event. */
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Part>>>>;
  readonly components: Part;
}
