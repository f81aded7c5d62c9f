import { CannotStart } from '@posthorn/kernel';
import { validateSync } from 'class-validator';
import { allowedValues, isOptional } from './allowed-values.ts';
import { settingsOf, type DeclaredSetting, type SettingsClass } from './setting.ts';

/** Named classes of settings, such as `{ http: HttpSettings, log: LogSettings }`. */
export type Sections = Record<string, SettingsClass>;

/** The instances of named classes of settings. */
export type SettingsFor<S extends Sections> = { readonly [Name in keyof S]: InstanceType<S[Name]> };

/** A class of settings whose values are also validated in combination. */
export interface CrossValidated {
  /** The faults of combinations of values that are each valid, one sentence per fault. */
  faults(): string[];
}

/** All faults of the settings; it contains no secret values. */
export class SettingsError extends CannotStart {
  constructor(readonly faults: readonly string[]) {
    super(`The settings are not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of all `sections` from the environment. An empty variable counts as unset.
 *
 * @throws SettingsError that lists every fault of every section
 */
export function readSettings<S extends Sections>(
  sections: S,
  env: Environment = process.env,
): SettingsFor<S> {
  const faults: string[] = [];
  const settings = Object.entries(sections).map(([name, section]) => {
    const read = readSection(section, env);
    faults.push(...read.faults);
    return [name, read.section];
  });
  if (faults.length > 0) throw new SettingsError([...new Set(faults)]);
  return Object.fromEntries(settings) as SettingsFor<S>;
}

function readSection(section: SettingsClass, env: Environment): { section: object; faults: string[] } {
  const values = new section() as Record<string, unknown>;
  const declared = settingsOf(section);
  for (const { name } of declared) {
    const text = env[name];
    if (text !== undefined && text !== '') values[name] = convert(text, values[name]);
  }
  const wrong = new Set(validateSync(values).map((error) => error.property));
  const missing = declared.filter(({ name }) => values[name] === undefined && !isOptional(section, name));
  const faults = declared
    .filter((setting) => wrong.has(setting.name) || missing.includes(setting))
    .map((setting) => faultOf(section, setting, env[setting.name]));
  if (faults.length === 0 && isCrossValidated(values)) faults.push(...values.faults());
  return { section: values, faults };
}

/** Converts a text to the type of the default; if that is impossible, the text is kept, and refused by the validation. */
function convert(text: string, initial: unknown): unknown {
  if (typeof initial === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (typeof initial === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function faultOf(section: SettingsClass, setting: DeclaredSetting, text: string | undefined): string {
  const allowed = allowedValues(section, setting.name);
  if (text === undefined || text === '') return `${setting.name} is not set; it must be ${allowed}`;
  const found = setting.secret
    ? 'has a value that is not allowed'
    : `is ${JSON.stringify(text.slice(0, 100))}`;
  return `${setting.name} ${found}; it must be ${allowed}`;
}

function isCrossValidated(section: object): section is CrossValidated {
  return 'faults' in section;
}
