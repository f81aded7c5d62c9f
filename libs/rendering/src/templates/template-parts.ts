/** What a template says, in its language; see `analyseTemplate` for what is allowed in it. */
export interface TemplateParts {
  readonly subject: string;
  readonly html: string;
  /** Absent: the text is made from the rendered HTML. */
  readonly text?: string | undefined;
  readonly previewText?: string | undefined;
}

export type PartName = keyof TemplateParts;

/** The parts in the order in which they are judged and shown. */
export const PART_NAMES = ['subject', 'html', 'text', 'previewText'] as const satisfies readonly PartName[];

/** What a call gives to a template: an object of JSON. */
export type Variables = Readonly<Record<string, unknown>>;
