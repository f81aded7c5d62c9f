import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { type Api } from '../api.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
interface Operation {
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        { readonly schema: Schema; readonly examples: Readonly<Record<string, { readonly value: object }>> }
      >
    >;
  };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** A body that a route takes, and the schemas of the fields that it may have. */
export interface DocumentedBody {
  readonly example: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, Schema>>;
}

/** A route as the gateway's own document describes it. */
export interface DocumentedRoute {
  /** Method and path. */
  readonly route: string;
  readonly needsKey: boolean;
  /** Whose keys may not use it. */
  readonly forbiddenRoles: readonly Role[];
  readonly query: readonly Parameter[];
  /** None: it takes no body. */
  readonly bodies: readonly DocumentedBody[];
}

export type Role = 'viewer' | 'apiUser' | 'editor';
const ROLES: Readonly<Record<string, Role>> = { VIEWER: 'viewer', API_USER: 'apiUser', EDITOR: 'editor' };

/** What a gateway's document says about its routes, and whether it lets a value pass. */
export class DocumentedInterface {
  private readonly judges = new Map<Schema, ValidateFunction>();

  private constructor(
    readonly routes: readonly DocumentedRoute[],
    private readonly ajv: Ajv2020,
  ) {}

  static async readFrom(api: Api): Promise<DocumentedInterface> {
    const document = (await api.get('/openapi.json', { key: null })).body as unknown as Document;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'document');
    const reader = new DocumentedInterface([], ajv);
    const routes = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) =>
        reader.describe(`${method.toUpperCase()} ${path}`, operation, document),
      ),
    );
    return new DocumentedInterface(routes, ajv);
  }

  /** Whether a schema of the document takes a value. */
  takes(schema: Schema, value: unknown): boolean {
    let judge = this.judges.get(schema);
    if (judge === undefined) {
      const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
      judge = this.ajv.compile(JSON.parse(text) as Schema);
      this.judges.set(schema, judge);
    }
    return judge(value);
  }

  private describe(route: string, operation: Operation, document: Document): DocumentedRoute {
    const { description, security, parameters = [], requestBody } = operation;
    const roles = /Needs a key with the role (.*)\./.exec(description)?.[1] ?? Object.keys(ROLES).join();
    const json = requestBody?.content['application/json'];
    return {
      route,
      needsKey: security.length > 0,
      forbiddenRoles: Object.entries(ROLES).flatMap(([name, role]) => (roles.includes(name) ? [] : [role])),
      query: parameters.filter((parameter) => parameter.in === 'query'),
      bodies: json === undefined ? [] : this.bodiesOf(json.schema, Object.values(json.examples), document),
    };
  }

  private bodiesOf(
    schema: Schema,
    examples: readonly { value: object }[],
    document: Document,
  ): DocumentedBody[] {
    const kinds = (schema['oneOf'] ?? schema['anyOf'] ?? [schema]) as Schema[];
    return examples.map(({ value }) => {
      const kind = kinds.find((one) => this.takes(one, value));
      if (kind === undefined) throw new Error(`an example that no schema takes: ${JSON.stringify(value)}`);
      const { properties = {} } = resolved(kind, document) as { properties?: Record<string, Schema> };
      return { example: value as Record<string, unknown>, fields: properties };
    });
  }
}

function resolved(schema: Schema, document: Document): Schema {
  const { $ref } = schema as { $ref?: string };
  if ($ref === undefined) return schema;
  const found = $ref
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], document);
  return resolved(found as Schema, document);
}
