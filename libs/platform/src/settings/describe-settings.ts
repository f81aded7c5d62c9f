import { allowedValues, isOptional } from './allowed-values.ts';
import type { Sections } from './read-settings.ts';
import { settingsOf, type DeclaredSetting, type SettingsClass } from './setting.ts';

/** The description of a setting in the documentation for operators. */
export interface SettingDescription {
  readonly section: string;
  readonly name: string;
  readonly sentence: string;
  /** Its values, in words. */
  readonly allowed: string;
  readonly required: boolean;
  readonly secret: boolean;
  /** What holds when it is unset; absent when it is required. */
  readonly default?: string;
  readonly example?: string;
}

/** Describes every setting of `sections`, in the order of their declaration. */
export function describeSettings(sections: Sections): SettingDescription[] {
  return Object.entries(sections).flatMap(([name, section]) => {
    const defaults = new section() as Record<string, unknown>;
    return settingsOf(section).map((setting) => describe(name, section, setting, defaults[setting.name]));
  });
}

function describe(
  sectionName: string,
  section: SettingsClass,
  setting: DeclaredSetting,
  initial: unknown,
): SettingDescription {
  const { name, sentence, secret = false, example, defaultText } = setting;
  const fallback = defaultText ?? asText(initial);
  return {
    section: sectionName,
    name,
    sentence,
    allowed: allowedValues(section, name),
    required: fallback === undefined && !isOptional(section, name),
    secret,
    ...(fallback !== undefined && { default: fallback }),
    ...(example !== undefined && { example }),
  };
}

function asText(initial: unknown): string | undefined {
  return typeof initial === 'string' || typeof initial === 'number' || typeof initial === 'boolean'
    ? String(initial)
    : undefined;
}
