import { getMetadataStorage } from 'class-validator';
import type { SettingsClass } from './setting.ts';

type Constraints = readonly unknown[];

/** Descriptions of the class-validator rules that settings use, for operators. */
const RULE_TEXTS: Record<string, (constraints: Constraints) => string> = {
  isInt: () => 'a whole number',
  isNumber: () => 'a number',
  isBoolean: () => '`true` or `false`',
  min: ([min]) => `at least ${String(min)}`,
  max: ([max]) => `at most ${String(max)}`,
  isIn: ([values]) => `one of ${(values as Constraints).join(', ')}`,
  isOfForm: ([form]) => String(form),
  matches: ([pattern]) => `text that matches ${String(pattern)}`,
};

/** The values that a setting may have, in words: `a whole number, at least 1, at most 65535`. */
export function allowedValues(section: SettingsClass, name: string): string {
  const rules = rulesOf(section, name).reverse(); // decorators run from the bottom up
  const texts = rules.flatMap((rule) => RULE_TEXTS[rule.name ?? rule.type]?.(rule.constraints ?? []) ?? []);
  return texts.join(', ') || 'text';
}

/** Whether a setting may be unset without having a default. */
export function isOptional(section: SettingsClass, name: string): boolean {
  return rulesOf(section, name).some((rule) => rule.type === 'conditionalValidation');
}

function rulesOf(section: SettingsClass, name: string) {
  return getMetadataStorage()
    .getTargetValidationMetadatas(section, '', true, false)
    .filter((rule) => rule.propertyName === name);
}
