/** An item as returned by a statement: the named ids are in the database's form. */
export type RowOf<Item, Ids extends keyof Item> = Omit<Item, Ids> & {
  readonly [Name in Ids]: string | Extract<Item[Name], null>;
};
