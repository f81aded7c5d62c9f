import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { SamplerName } from '../settings/trace-settings.ts';

type Make = (ratio: number) => Sampler;

const alwaysOn: Make = () => new AlwaysOnSampler();
const alwaysOff: Make = () => new AlwaysOffSampler();
const byRatio: Make = (ratio) => new TraceIdRatioBasedSampler(ratio);
const unlessParentSays =
  (root: Make): Make =>
  (ratio) =>
    new ParentBasedSampler({ root: root(ratio) });

const SAMPLERS: Readonly<Record<SamplerName, Make>> = {
  always_on: alwaysOn,
  always_off: alwaysOff,
  traceidratio: byRatio,
  parentbased_always_on: unlessParentSays(alwaysOn),
  parentbased_always_off: unlessParentSays(alwaysOff),
  parentbased_traceidratio: unlessParentSays(byRatio),
};

/** The sampler with a name. @param ratio from 0 to 1, for the ratio-based ones */
export function samplerOf(name: SamplerName, ratio: number): Sampler {
  return SAMPLERS[name](ratio);
}
