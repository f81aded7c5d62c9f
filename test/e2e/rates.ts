import type { Answer } from './api.ts';
import { parseItemList } from './structured-fields.ts';

/** A rate limit, as the headers of an answer report it. */
export interface ReportedRate {
  readonly policy: string;
  /** How many requests are allowed in a window, and its length in seconds. */
  readonly quota: number;
  readonly window: number;
  readonly remaining: number;
  /** In how many seconds one more is allowed; undefined when the whole quota is. */
  readonly next: number | undefined;
}

/** Parses `RateLimit-Policy` and `RateLimit`. @throws when one is missing, or does not follow the IETF draft */
export function rateIn(answer: Pick<Answer, 'headers'>): ReportedRate {
  const policy = onlyItem(answer, 'ratelimit-policy', ['q', 'w']);
  const state = onlyItem(answer, 'ratelimit', ['r', 't']);
  if (typeof policy.value !== 'string' || state.value !== policy.value)
    throw new Error(
      `the policy ${JSON.stringify(policy.value)} has the state of ${JSON.stringify(state.value)}`,
    );
  return {
    policy: policy.value,
    quota: wholeNumber(policy.parameters['q'], 1),
    window: wholeNumber(policy.parameters['w'], 1),
    remaining: wholeNumber(state.parameters['r'], 0),
    next: state.parameters['t'] === undefined ? undefined : wholeNumber(state.parameters['t'], 0),
  };
}

function onlyItem({ headers }: Pick<Answer, 'headers'>, name: string, parameters: readonly string[]) {
  const field = headers.get(name);
  if (field === null) throw new Error(`there is no ${name}`);
  const [item, ...others] = parseItemList(field);
  const unknown = Object.keys(item?.parameters ?? {}).filter((key) => !parameters.includes(key));
  if (item === undefined || others.length > 0 || unknown.length > 0)
    throw new Error(`${name} has more or less than it should: ${field}`);
  return item;
}

function wholeNumber(value: unknown, min: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min)
    throw new Error(`${JSON.stringify(value)} is no whole number of at least ${min}`);
  return value;
}
