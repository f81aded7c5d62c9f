/** An item as a statement gives it: these ids of it are as the database has them. */
export type RowOf<Item, Ids extends keyof Item> = Omit<Item, Ids> & {
  readonly [Name in Ids]: string | Extract<Item[Name], null>;
};
