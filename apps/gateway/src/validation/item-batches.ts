import { type ErrorBody, Refusal } from '@posthorn/kernel';
import { addressOfItem, validateItem } from './batch.ts';
import { isJsonObject, kindOf } from './rule.ts';

/** How the items of a batch are validated and written. */
interface BatchWork<Wanted, Written> {
  /** What an item is, for error messages. */
  readonly noun: string;
  /** @throws Refusal */
  readonly validate: (item: object) => Wanted;
  /** Writes the valid items, which are not empty, together. @returns the result or the refusal of each, in their order */
  readonly write: (wanted: readonly Wanted[]) => Promise<readonly (Written | Refusal)[]>;
}

/** The results of the items of a batch; each list is in their order. */
interface BatchOutcome<Written> {
  readonly successful: Written[];
  readonly failed: { readonly index: number; readonly email: string | null; readonly error: ErrorBody }[];
}

/** Serves batches of items that have an `email`, are validated one by one, and are written together. */
export class ItemBatches {
  /** @param errorBodyOf creates the error body of a refused item */
  constructor(private readonly errorBodyOf: (refusal: Refusal) => ErrorBody) {}

  /** Writes all valid items; a refused one does not affect the others. */
  async write<Wanted extends object, Written extends object>(
    items: readonly unknown[],
    { noun, validate, write }: BatchWork<Wanted, Written>,
  ): Promise<BatchOutcome<Written>> {
    const validated = items.map((item) => validateItem(item, (one) => validate(objectOf(one, noun))));
    const valid = validated.filter((one): one is Wanted => !(one instanceof Refusal));
    const written = (valid.length === 0 ? [] : await write(valid)).values();
    const outcome: BatchOutcome<Written> = { successful: [], failed: [] };
    validated.forEach((one, index) => {
      const result = one instanceof Refusal ? one : written.next().value!;
      if (!(result instanceof Refusal)) return outcome.successful.push(result);
      const email = addressOfItem(items[index], 'email');
      return outcome.failed.push({ index, email, error: this.errorBodyOf(result) });
    });
    return outcome;
  }
}

function objectOf(item: unknown, noun: string): object {
  if (!isJsonObject(item)) throw new Refusal(400, `The ${noun} is ${kindOf(item)}; give an object`);
  return item;
}
