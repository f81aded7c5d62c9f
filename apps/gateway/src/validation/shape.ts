import { getMetadataStorage } from 'class-validator';
import { type FieldDescription, RuleConstraint, type Rule } from './rule.ts';

interface FieldRule {
  readonly field: string;
  readonly rule: Rule;
  readonly description: FieldDescription;
}

/** The fields of a request class with their rules, read once out of class-validator's metadata. */
export interface Shape {
  readonly fields: readonly FieldRule[];
  readonly names: readonly string[];
}

const shapes = new WeakMap<new () => object, Shape>();

/**
 * The rules of a request class, read when they are first asked for, so that judging a request is one pass over a list.
 * class-validator's own `validateSync` gives the same faults and looks everything up anew each time.
 *
 * @throws Error when a field of the class is judged by anything but a rule; nothing may be left unjudged in silence
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

/** Everything that is wrong with the known fields of `object`; `path` is put before their names. */
export function faultsInFields(shape: Shape, object: Readonly<Record<string, unknown>>, path = ''): string[] {
  const faults: string[] = [];
  for (const { field, rule } of shape.fields) {
    const fault = rule(object[field], path + field);
    if (fault !== undefined) faults.push(fault);
  }
  return faults;
}
