import { allowedValues, isOptional } from './allowed-values.ts';
import type { Sections } from './read-settings.ts';
import { settingsOf, type DeclaredSetting, type SettingsClass } from './setting.ts';

/** One setting as the operators' page shows it. */
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

const INTRODUCTION = `# Every setting of Posthorn. Copy this file to .env; what is not set there has the default shown.
# Variables of the environment win over this file. An empty value is the same as none. What is required has to be set
# wherever the apps run by themselves; \`npm run up\` brings its own Postgres, Redis and inbox for what is not set.
`;

/** Renders a \`.env.example\`: all of them commented out, with an example or their default. */
export function renderEnvExample(settings: readonly SettingDescription[]): string {
  const blocks = settings.map(({ name, sentence, allowed, required, default: fallback, example }) => {
    const about = required ? `Required: ${allowed}.` : `Allowed: ${allowed}.`;
    return `# ${sentence}\n# ${about}\n# ${name}=${example ?? fallback ?? ''}\n`;
  });
  return [INTRODUCTION, ...blocks].join('\n');
}
