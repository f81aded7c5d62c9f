import { getMetadataStorage } from 'class-validator';
import { type FieldDescription, RuleConstraint, type Rule } from './rule.ts';

interface FieldRule {
  readonly field: string;
  readonly rule: Rule;
  readonly description: FieldDescription;
}

/** The fields of a request class with their rules. */
export interface Shape {
  readonly fields: readonly FieldRule[];
  readonly names: readonly string[];
}

const shapes = new WeakMap<new () => object, Shape>();

/**
 * The shape of a request class, read from class-validator's metadata at the first call and cached, so that validation is one pass over a list.
 * class-validator's `validateSync` gives the same faults, but looks up the metadata each time.
 *
 * @throws Error when a field of the class has another validator than a rule, which would be skipped silently
 */
export function shapeOf(requestClass: new () => object): Shape {
  const known = shapes.get(requestClass);
  if (known !== undefined) return known;
  const shape = readShape(requestClass);
  shapes.set(requestClass, shape);
  return shape;
}

function readShape(requestClass: new () => object): Shape {
  const metadata = getMetadataStorage().getTargetValidationMetadatas(requestClass, '', true, false);
  const fields = metadata.map(({ propertyName, constraintCls, constraints, context }) => {
    if (constraintCls !== RuleConstraint) throw new Error(`${requestClass.name}.${propertyName} has no rule`);
    const [rule] = constraints as [Rule];
    return { field: propertyName, rule, description: context as FieldDescription };
  });
  if (fields.length === 0) throw new Error(`${requestClass.name} has no rules`);
  return { fields, names: fields.map(({ field }) => field) };
}

/** The faults of the known fields of `object`; `path` is the prefix of their names. */
export function faultsInFields(shape: Shape, object: Readonly<Record<string, unknown>>, path = ''): string[] {
  const faults: string[] = [];
  for (const { field, rule } of shape.fields) {
    const fault = rule(object[field], path + field);
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}
