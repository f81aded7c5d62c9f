import { nameOf } from './manifests.mjs';

/** @typedef {import('./manifests.mjs').Manifest} Manifest */

/** The required security context of containers (Pod Security Standards, profile "restricted", and a read-only root file system). */
const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

/** How long a process may take to shut down, in seconds; see Signals in docs/operations/observing.md. */
const LEAVES_WITHIN_SECONDS = 25;

/** How long new pods wait for the migration, in seconds: `npm run migrate -- --wait`. */
const MIGRATED_WITHIN_SECONDS = 30 * 60;

/** What Kubernetes takes if a Deployment does not say it. */
const DEFAULT_PROGRESS_DEADLINE_SECONDS = 600;

/**
 * Our own rules beyond the schemas: mistakes that a cluster would accept.
 *
 * @param {readonly Manifest[]} manifests
 * @returns {string[]} a sentence for each fault
 */
export function ruleFaults(manifests) {
  return [
    ...manifests.flatMap((manifest) => (podOf(manifest) ? podFaults(manifest) : [])),
    ...manifests.filter(({ kind }) => kind === 'Deployment').flatMap(deploymentFaults),
    ...selectorFaults(manifests),
    ...networkFaults(manifests),
    ...scalingFaults(manifests),
    ...evictionFaults(manifests),
  ];
}

/** @param {Manifest} manifest */
function podFaults(manifest) {
  const { spec } = podOf(manifest);
  const fault = (text) => `${nameOf(manifest)}: ${text}`;
  const { runAsNonRoot, seccompProfile } = spec.securityContext ?? {};
  const faults = [];
  if (runAsNonRoot !== true) faults.push(fault('may run as root'));
  if (seccompProfile?.type !== 'RuntimeDefault') faults.push(fault('has no seccomp profile'));
  if (spec.automountServiceAccountToken !== false) faults.push(fault('carries a token of the cluster'));
  for (const container of containersOf(manifest)) {
    for (const text of containerFaults(container)) faults.push(fault(`${container.name} ${text}`));
  }
  return faults;
}

/** @param {Record<string, any>} container */
function containerFaults({ image, resources = {}, securityContext = {} }) {
  const { requests = {}, limits = {} } = resources;
  const faults = [];
  if (!/:v?\d+\.\d+(\.\d+)?([-+.][\w.-]+)?(@sha256:[0-9a-f]{64})?$/.test(image))
    faults.push('has an image without a version');
  // No CPU limit, because it throttles a busy process even while the machine is idle.
  if (!requests.cpu || !requests.memory || !limits.memory)
    faults.push('lacks a request or the limit of memory');
  for (const [name, value] of Object.entries(CONTAINER_SECURITY)) {
    if (JSON.stringify(securityContext[name]) !== JSON.stringify(value))
      faults.push(`has another ${name} than ${JSON.stringify(value)}`);
  }
  return faults;
}

/** @param {Manifest} manifest */
function deploymentFaults(manifest) {
  const {
    template,
    strategy,
    progressDeadlineSeconds = DEFAULT_PROGRESS_DEADLINE_SECONDS,
  } = manifest['spec'];
  const { containers, terminationGracePeriodSeconds, topologySpreadConstraints = [] } = template.spec;
  const faults = containers.flatMap((container) =>
    replacementFaults(container, terminationGracePeriodSeconds),
  );
  if (progressDeadlineSeconds <= MIGRATED_WITHIN_SECONDS)
    faults.push('counts as failed while it still waits for the migration');
  if (strategy?.rollingUpdate?.maxUnavailable !== 0) faults.push('has fewer pods during an update');
  faults.push(...topologySpreadConstraints.flatMap(spreadFaults));
  return faults.map((text) => `${nameOf(manifest)}: ${text}`);
}

/** What goes wrong when a pod is replaced. @param {Record<string, any>} container @param {number} graceSeconds */
function replacementFaults({ name, livenessProbe, readinessProbe, startupProbe, lifecycle }, graceSeconds) {
  const faults = [];
  if (!livenessProbe || !readinessProbe || !startupProbe) faults.push(`${name} lacks a probe`);
  const pause = lifecycle?.preStop?.sleep?.seconds ?? 0;
  if (pause === 0) faults.push(`${name} is told to leave while it is still sent requests`);
  if (graceSeconds < pause + LEAVES_WITHIN_SECONDS) faults.push('is killed before it has left');
  return faults;
}

/** @param {Record<string, any>} constraint */
function spreadFaults({ labelSelector, matchLabelKeys }) {
  const faults = [];
  if (matchLabelKeys && !labelSelector)
    faults.push('is spread by label keys without a selector, which the API refuses');
  if (!matchLabelKeys?.includes('pod-template-hash'))
    faults.push('is spread around pods of the release before, which are about to go');
  return faults;
}

/** Selectors that match nothing, and references to missing objects. @param {readonly Manifest[]} manifests */
function selectorFaults(manifests) {
  const pods = manifests.map(podOf).filter(Boolean);
  const selects = (labels) => pods.some((pod) => isSubset(labels, pod.metadata.labels));
  return manifests.flatMap((manifest) => {
    return selectorsOf(manifest).some((labels) => !selects(labels))
      ? [`${nameOf(manifest)}: selects no pod`]
      : [];
  });
}

/**
 * The ports to which the policies allow egress from the pods of an object.
 *
 * @param {Manifest} manifest
 * @param {readonly Manifest[]} manifests
 * @returns {number[]}
 */
export function portsOut(manifest, manifests) {
  const { labels } = podOf(manifest).metadata;
  return manifests
    .filter((each) => each.kind === 'NetworkPolicy' && isAbout(each, labels))
    .flatMap(({ spec: { egress = [] } }) =>
      egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port)),
    );
}

/** Whether a policy applies to pods with these labels. @param {Manifest} policy @param {Record<string, string>} labels */
function isAbout({ spec: { podSelector } }, labels) {
  const { matchLabels = {}, matchExpressions = [] } = podSelector;
  return (
    isSubset(matchLabels, labels) && matchExpressions.every(({ key, values }) => values.includes(labels[key]))
  );
}

/** The labels of the pods that an object selects; for an expression, each value separately. @param {Manifest} manifest */
function selectorsOf({ kind, spec }) {
  if (kind === 'Service') return [spec.selector];
  if (kind === 'PodDisruptionBudget' || kind === 'Deployment') return [spec.selector.matchLabels];
  if (kind !== 'NetworkPolicy') return [];
  const { matchLabels = {}, matchExpressions = [] } = spec.podSelector;
  const chosen = matchExpressions.flatMap(({ key, values }) => values.map((value) => ({ [key]: value })));
  return [matchLabels, ...chosen];
}

/** @param {readonly Manifest[]} manifests */
function networkFaults(manifests) {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const deniesAll = policies.some(({ spec }) => {
    const { podSelector, policyTypes, ingress, egress } = spec;
    return Object.keys(podSelector).length === 0 && policyTypes.length === 2 && !ingress && !egress;
  });
  const exposed = manifests.flatMap(backendsOf);
  return [
    ...(deniesAll ? [] : ['nothing denies what no policy allows']),
    ...exposed.filter((name) => name !== 'gateway').map((name) => `${name} is reachable from outside`),
  ];
}

/** The Services to which an object leads requests from outside. @param {Manifest} manifest */
function backendsOf({ kind, spec }) {
  if (kind === 'HTTPRoute')
    return spec.rules.flatMap(({ backendRefs }) => backendRefs.map(({ name }) => name));
  if (kind !== 'Ingress') return [];
  return spec.rules.flatMap(({ http }) => http.paths.map(({ backend }) => backend.service.name));
}

/** @param {readonly Manifest[]} manifests */
function scalingFaults(manifests) {
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
  return manifests
    .filter(({ kind }) => kind === 'HorizontalPodAutoscaler' || kind === 'ScaledObject')
    .flatMap((manifest) => {
      const scaled = deployments.find(
        ({ metadata }) => metadata.name === manifest['spec'].scaleTargetRef.name,
      );
      if (!scaled) return [`${nameOf(manifest)}: scales nothing`];
      return scaled['spec'].replicas === undefined
        ? []
        : [`${nameOf(scaled)}: each apply would undo its scaling`];
    });
}

/** @param {readonly Manifest[]} manifests */
function evictionFaults(manifests) {
  return manifests
    .filter(
      ({ kind, spec }) => kind === 'PodDisruptionBudget' && spec.unhealthyPodEvictionPolicy !== 'AlwaysAllow',
    )
    .map((manifest) => `${nameOf(manifest)}: a pod that is broken keeps its machine from being drained`);
}

/** The pod template of an object. @param {Manifest} manifest */
function podOf(manifest) {
  const { kind, spec } = manifest;
  if (kind === 'CronJob') return spec.jobTemplate.spec.template;
  return kind === 'Deployment' || kind === 'Job' ? spec.template : undefined;
}

/** @param {Manifest} manifest */
export function containersOf(manifest) {
  const { initContainers = [], containers } = podOf(manifest).spec;
  return [...initContainers, ...containers];
}

function isSubset(labels, of) {
  return Object.entries(labels).every(([name, value]) => of[name] === value);
}
