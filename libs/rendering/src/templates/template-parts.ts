/** The sources of the parts of a template; see `analyseTemplate` for the language. */
export interface TemplateParts {
  readonly subject: string;
  readonly html: string;
  /** Absent: the text is made from the rendered HTML. */
  readonly text?: string | undefined;
  readonly previewText?: string | undefined;
}

export type PartName = keyof TemplateParts;

/** The parts in the order in which they are analysed and rendered. */
export const PART_NAMES = ['subject', 'html', 'text', 'previewText'] as const satisfies readonly PartName[];

/** The variables of a call: a JSON object. */
export type Variables = Readonly<Record<string, unknown>>;
