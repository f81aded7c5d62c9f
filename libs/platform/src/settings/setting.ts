/** Properties of a setting besides its type and its permitted values. */
export interface SettingOptions {
  /** Its value never appears in an error, a log line or the docs. */
  readonly secret?: boolean;
  /** A value to show where there is no default, or instead of an empty one. */
  readonly example?: string;
  /** A description of the default, where it is not a constant. */
  readonly defaultText?: string;
}

export interface DeclaredSetting extends SettingOptions {
  readonly name: string;
  readonly sentence: string;
}

/** A class whose properties carry `@Setting`; each property is read from the environment variable of the same name. */
export type SettingsClass = new () => object;

const declaredSettings = new WeakMap<object, DeclaredSetting[]>();

/**
 * Declares a property to be a setting. Its default is the property's initial value (none: it is required, unless it is
 * `@IsOptional`), its bounds are its class-validator decorators.
 *
 * @param sentence what it does, for the operator who reads the generated page
 */
export function Setting(sentence: string, options: SettingOptions = {}): PropertyDecorator {
  return (prototype, property) => {
    const declared = declaredSettings.get(prototype.constructor) ?? [];
    declared.push({ name: String(property), sentence, ...options });
    declaredSettings.set(prototype.constructor, declared);
  };
}

/** The settings of a class, in the order of their declaration. */
export function settingsOf(section: SettingsClass): readonly DeclaredSetting[] {
  return declaredSettings.get(section) ?? [];
}
