import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { isInRanges, mayConnectTo, parseAddress, parseAddressRange, SIZES } from '@posthorn/domain';
import { parse } from 'yaml';
import { ALL_SECTIONS, describeSettings, readSettings, type Sections } from '@posthorn/platform';
import { type Manifest, nameOf, render, schemaFaults, typeFaults } from './k8s/manifests.mjs';
import { containersOf, portsOut, ruleFaults } from './k8s/rules.mjs';
import { APPS, readersOf } from './settings-of-apps.ts';
import { ROOT } from './stack/runtime.mjs';

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly env?: readonly Variable[];
}

/** The entries of the Secret `posthorn`, which an operator creates; see k8s/README.md. */
const SECRET: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://posthorn:secret@postgres/posthorn',
  REDIS_URL: 'redis://redis:6379',
  SMTP_URL: 'smtps://user:secret@smtp.example.com',
  ENCRYPTION_KEYS: `first:${Buffer.alloc(32).toString('base64')}`,
};

interface Block {
  readonly cidr: string;
  readonly except: readonly string[];
}

/** Addresses that the IANA registries do not list as globally reachable, and the metadata services of clouds, which give out credentials. */
const NOT_PUBLIC = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '168.63.129.16/32', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['::/96', '::ffff:0:0:0/96', '64:ff9b::/104', '64:ff9b::a00:0/104', '64:ff9b::a9fe:0/112'],
  ...['64:ff9b::c0a8:0/112', '64:ff9b::e000:0/99', '64:ff9b:1::/48', '100::/64', '2001::/23'],
  ...['2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16'],
  ...['fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
];
const settings = describeSettings(ALL_SECTIONS);
const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;

const MIB = 1_048_576;

describe.each(['small', 'production'])('k8s/overlays/%s', (overlay) => {
  let manifests: Manifest[];
  const ofKind = (kind: string): Manifest[] => manifests.filter((manifest) => manifest.kind === kind);
  const named = (kind: string, name: string): Manifest =>
    ofKind(kind).find(({ metadata }) => metadata.name === name)!;
  /** The memory limit of an app, in bytes. */
  const memoryOf = (app: string): number => {
    const [container] = named('Deployment', app)['spec'].template.spec.containers as [
      { resources: { limits: { memory: string } } },
    ];
    const [, amount, unit] = /^(\d+)(Mi|Gi)$/.exec(container.resources.limits.memory)!;
    return Number(amount) * (unit === 'Gi' ? 1_024 * MIB : MIB);
  };
  beforeAll(async () => {
    manifests = await render(`k8s/overlays/${overlay}`);
  });

  it('is what the schemas of Kubernetes and its operators allow, without a field that they do not know', async () => {
    expect(await schemaFaults(manifests)).toEqual([]);
    expect(await typeFaults(manifests, overlay)).toEqual([]);
  });

  it('follows our own rules', () => {
    expect(ruleFaults(manifests)).toEqual([]);
  });

  it('deploys every app and the migration, in the version of this release', () => {
    expect(
      ofKind('Deployment')
        .map(({ metadata }) => metadata.name)
        .sort(),
    ).toEqual([...APPS].sort());
    const images = [...ofKind('Deployment'), ...ofKind('Job'), ...ofKind('CronJob')].flatMap((manifest) =>
      (containersOf(manifest) as Container[]).map(({ image }) => image),
    );
    for (const image of images)
      expect(image).toMatch(new RegExp(`/[a-z-]+:${version.replaceAll('.', '\\.')}$`));
    const targets = [...readFileSync(join(ROOT, 'Dockerfile'), 'utf8').matchAll(/ AS ([a-z-]+)$/gm)].map(
      ([, target]) => target,
    );
    for (const image of images) expect(targets).toContain(/\/([a-z-]+):/.exec(image)![1]);
  });

  it('starts every app with settings that exist and that it takes, and gives it no secret that it does not read', () => {
    const shared = ofKind('ConfigMap')[0]!['data'] as Record<string, string>;
    for (const app of APPS) {
      const read: Sections = Object.fromEntries(
        Object.entries(ALL_SECTIONS).filter(([section]) => readersOf(section).includes(app)),
      );
      const { containers } = named('Deployment', app)['spec'].template.spec as { containers: Container[] };
      const [container] = containers;
      const secrets = secretsOf(container!);
      const asked = describeSettings(read).filter(({ secret }) => secret);
      expect({ app, secrets: [...secrets].sort() }).toEqual({
        app,
        secrets: asked.map(({ name }) => name).sort(),
      });
      const own = Object.fromEntries(secrets.map((name) => [name, SECRET[name]]));
      expect(() => readSettings(read, { ...shared, ...own })).not.toThrow();
    }
  });

  it('gives the command line every setting and every secret that an app gets, since the doctor checks them', () => {
    const [cli] = containersOf(named('CronJob', 'cli')) as (Container & { envFrom: unknown })[];
    const ofApps = APPS.flatMap((app) => containersOf(named('Deployment', app)) as Container[]);
    expect(secretsOf(cli!)).toEqual(expect.arrayContaining(ofApps.flatMap(secretsOf)));
    expect(ofApps).toContainEqual(expect.objectContaining({ name: 'app', envFrom: cli!.envFrom }));
  });

  it('gives the gateway enough memory for parsed request bodies, and for previews', () => {
    const shared = ofKind('ConfigMap')[0]!['data'] as Record<string, string>;
    const needed = 8 * Number(shared['MAX_BYTES_IN_FLIGHT']) + 512 * MIB;
    expect(memoryOf('gateway')).toBeGreaterThanOrEqual(needed);
  });

  it('gives the dashboard and the sender enough memory for the largest emails', () => {
    expect(memoryOf('dashboard')).toBeGreaterThanOrEqual(768 * MIB);
    expect(memoryOf('sender')).toBeGreaterThanOrEqual(1_024 * MIB);
  });

  it('names secrets only by reference', () => {
    const secret = settings.filter((setting) => setting.secret).map(({ name }) => name);
    const known = [...settings.map(({ name }) => name), 'NODE_ENV'];
    const shared = Object.keys(ofKind('ConfigMap')[0]!['data'] as object);
    expect(shared.filter((name) => secret.includes(name) || !known.includes(name))).toEqual([]);
    for (const manifest of [...ofKind('Deployment'), ...ofKind('Job'), ...ofKind('CronJob')]) {
      for (const { name, env = [] } of containersOf(manifest) as Container[]) {
        const open = env.filter(({ value }) => value !== undefined).map((variable) => variable.name);
        expect({
          at: `${nameOf(manifest)} ${name}`,
          open: open.filter((variable) => secret.includes(variable) || !known.includes(variable)),
        }).toMatchObject({ open: [] });
      }
    }
    expect(ofKind('Secret')).toEqual([]);
  });

  it('allows each pod egress to the servers in its settings, and to no other database or Redis', () => {
    const { PUBLIC_URL } = ofKind('ConfigMap')[0]!['data'] as { PUBLIC_URL: string };
    for (const manifest of [...ofKind('Deployment'), ...ofKind('Job'), ...ofKind('CronJob')]) {
      const secrets = (containersOf(manifest) as Container[]).flatMap(secretsOf);
      const urls = ['DATABASE_URL', 'REDIS_URL', 'SMTP_URL']
        .filter((name) => secrets.includes(name))
        .map((name) => SECRET[name]!);
      // The doctor asks for it.
      if (manifest.metadata.name === 'cli') urls.push(PUBLIC_URL);
      const ports = portsOut(manifest, manifests);
      expect({ of: nameOf(manifest), ports }).toEqual({
        of: nameOf(manifest),
        ports: expect.arrayContaining([53, ...urls.map(portOf)]),
      });
      expect([nameOf(manifest), ports.includes(PORTS['redis:']!)]).toEqual([
        nameOf(manifest),
        secrets.includes('REDIS_URL'),
      ]);
    }
  });

  it.each(NOT_PUBLIC)('lets the dispatcher out to public addresses alone, around %s', (range) => {
    const { spec } = named('NetworkPolicy', 'dispatcher-to-receivers');
    const blocks = (spec.egress as { to: { ipBlock: Block }[] }[]).flatMap(({ to }) =>
      to.map(({ ipBlock }) => ipBlock),
    );
    const isLetOut = (address: string): boolean =>
      blocks.some(({ cidr, except }) => isIn(address, [cidr]) && !isIn(address, except));
    for (const address of edgesOf(range))
      expect([address, isLetOut(address)]).toEqual([address, mayConnectTo(address, [])]);
  });
});

it.each([
  ['traces', 'traces', { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: 0.1 }],
  ['identity-provider', 'provider', { OIDC_CLIENT_ID: 'posthorn', PASSWORD_SIGN_IN: false }],
  ['relay-tokens', 'relayTokens', { SMTP_OAUTH_CLIENT_ID: 'posthorn' }],
  ['bounces', 'bounces', { BOUNCE_DOMAIN: 'bounces.example.com' }],
] as const)(
  'k8s/components/%s keeps them too, and says settings that are taken, where it is added to an overlay',
  async (component, section, said) => {
    const manifests = await renderWith(component);
    await expectNoFaults(manifests, component);
    const shared = manifests.find((manifest) => manifest.kind === 'ConfigMap')!['data'] as Record<
      string,
      string
    >;
    const secret = { SMTP_OAUTH_CLIENT_SECRET: 'from the Secret' };
    expect(readSettings({ read: ALL_SECTIONS[section] }, { ...shared, ...secret }).read).toMatchObject(said);
  },
);

it('G11: what we write for proxies with nginx in them lets the largest batch pass', async () => {
  const largest = `${SIZES.batchBody.max / MIB}m`;
  const ingress = (await renderWith('ingress')).find(({ kind }) => kind === 'Ingress')!;
  const annotations = {
    'nginx.ingress.kubernetes.io/proxy-body-size': largest,
    'nginx.org/client-max-body-size': largest,
  };
  expect(ingress).toMatchObject({ metadata: { annotations } });
  const operations = readFileSync(join(ROOT, 'docs/operations/installing.md'), 'utf8');
  expect(/client_max_body_size [^`;]+;/.exec(operations)?.[0]).toBe(`client_max_body_size ${largest};`);
});

describe.each<[string, string, (route: Manifest) => string[]]>([
  [
    'gateway-api',
    'HTTPRoute',
    ({ spec }) => (spec.rules[0].matches as { path: { value: string } }[]).map(({ path }) => path.value),
  ],
  [
    'ingress',
    'Ingress',
    ({ spec }) => (spec.rules[0].http.paths as { path: string }[]).map(({ path }) => path),
  ],
])('k8s/components/%s', (component, kind, pathsOf) => {
  let manifests: Manifest[];
  beforeAll(async () => {
    manifests = await renderWith(component);
  });
  const route = (): Manifest => manifests.find((manifest) => manifest.kind === kind)!;

  it('keeps them too, where it is added to an overlay', () => expectNoFaults(manifests, component));

  it('routes every path of the gateway, except health checks', () => {
    expect(pathsOf(route()).sort()).toEqual(firstSegmentsOfRoutes());
  });

  it('lets only the namespace of the proxies in to the gateway', () => {
    const { spec } = manifests.find(({ metadata }) => metadata.name === 'gateway-from-proxies')!;
    expect([spec.podSelector, spec.ingress]).toMatchObject([
      { matchLabels: { 'app.kubernetes.io/name': 'gateway' } },
      [
        {
          from: [
            { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': expect.any(String) } } },
          ],
        },
      ],
    ]);
  });

  it('is found where it leads to the dashboard', () => {
    const astray = structuredClone(manifests);
    const text = JSON.stringify(route()).replaceAll('"name":"gateway","port"', '"name":"dashboard","port"');
    astray.push(JSON.parse(text) as Manifest);
    expect(ruleFaults(astray)).toContain('dashboard is reachable from outside');
  });
});

describe('k8s/components/observe', () => {
  let manifests: Manifest[];
  beforeAll(async () => {
    manifests = await render('k8s/overlays/production');
  });

  it('has the alerts of observe/prometheus', () => {
    const rule = manifests.find(({ kind }) => kind === 'PrometheusRule')!;
    expect(rule['spec']).toEqual(parse(readFileSync(join(ROOT, 'observe/prometheus/alerts.yaml'), 'utf8')));
  });

  it('names the job as the alerts and observe/prometheus do, from a label of the scraped Service', () => {
    const { jobLabel, selector } = manifests.find(({ kind }) => kind === 'ServiceMonitor')!['spec'] as {
      jobLabel: string;
      selector: { matchLabels: Record<string, string> };
    };
    const asked = manifests.filter(
      ({ kind, metadata: { labels = {} } }) =>
        kind === 'Service' &&
        Object.entries(selector.matchLabels).every(([name, value]) => labels[name] === value),
    );
    const { scrape_configs: configured } = parse(
      readFileSync(join(ROOT, 'observe/prometheus/prometheus.yaml'), 'utf8'),
    ) as { scrape_configs: { job_name: string }[] };
    expect(asked.map(({ metadata }) => metadata.labels?.[jobLabel])).toEqual(
      configured.map(({ job_name: name }) => name),
    );
  });
});

describe('the checks of the manifests', () => {
  let manifests: Manifest[];
  beforeAll(async () => {
    manifests = await render('k8s/overlays/production');
  });

  const broken = (change: (deployment: Manifest, all: Manifest[]) => void): Manifest[] => {
    const copy = structuredClone(manifests);
    change(
      copy.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'sender')!,
      copy,
    );
    return copy;
  };

  it.each<[string, (deployment: Manifest) => void, RegExp]>([
    ['a field that does not exist', ({ spec }) => (spec.replicaz = 2), /replicaz/],
    [
      'a field that does not exist, deep down',
      ({ spec }) => (spec.template.spec.containers[0].livenessProbe.periodSecond = 1),
      /periodSecond/,
    ],
    ['a number where a text must be', ({ spec }) => (spec.template.spec.containers[0].name = 1), /number/],
  ])('finds %s', async (_what, change, fault) => {
    expect((await typeFaults(broken(change), 'broken')).join('\n')).toMatch(fault);
  });

  it('finds a pod without containers', async () => {
    expect(
      (await schemaFaults(broken(({ spec }) => (spec.template.spec.containers = undefined)))).join(),
    ).toMatch(/containers/);
  });

  it.each<[string, (deployment: Manifest, all: Manifest[]) => void, RegExp]>([
    ['an image without a version', (d) => (containers(d)[0].image = 'sender:latest'), /without a version/],
    ['a pod that may be root', (d) => (d['spec'].template.spec.securityContext.runAsNonRoot = false), /root/],
    ['no seccomp', (d) => delete d['spec'].template.spec.securityContext.seccompProfile, /seccomp/],
    ['a token of the cluster', (d) => delete d['spec'].template.spec.automountServiceAccountToken, /token/],
    [
      'a root that can be written',
      (d) => (containers(d)[0].securityContext.readOnlyRootFilesystem = false),
      /readOnly/,
    ],
    ['capabilities', (d) => delete containers(d)[0].securityContext.capabilities, /capabilities/],
    ['no limit', (d) => delete containers(d)[0].resources.limits, /limit/],
    ['no probe', (d) => delete containers(d)[0].livenessProbe, /probe/],
    ['no pause before it ends', (d) => delete containers(d)[0].lifecycle, /still sent requests/],
    [
      'too short a time to end',
      (d) => (d['spec'].template.spec.terminationGracePeriodSeconds = 10),
      /killed/,
    ],
    ['a rollout that fails while it waits', (d) => (d['spec'].progressDeadlineSeconds = 600), /migration/],
    ['fewer pods during an update', (d) => delete d['spec'].strategy, /fewer pods/],
    [
      'spreading without a selector',
      (d) => delete d['spec'].template.spec.topologySpreadConstraints[0].labelSelector,
      /selector/,
    ],
    [
      'spreading around the release before',
      (d) => (d['spec'].template.spec.topologySpreadConstraints[0].matchLabelKeys = []),
      /release before/,
    ],
    [
      'a budget by which a broken pod stays for ever',
      (_, all) =>
        delete all.find(({ kind }) => kind === 'PodDisruptionBudget')!['spec'].unhealthyPodEvictionPolicy,
      /keeps its machine/,
    ],
    ['a selector that selects nothing', (d) => (d['spec'].template.metadata.labels = {}), /selects no pod/],
    [
      'a cluster open by default',
      (_, all) =>
        all.splice(
          all.findIndex(({ metadata }) => metadata.name === 'deny-by-default'),
          1,
        ),
      /denies/,
    ],
    ['a number of pods that scaling changes', (d) => (d['spec'].replicas = 2), /undo its scaling/],
    [
      'scaling of nothing',
      (_, all) => (all.find(({ kind }) => kind === 'ScaledObject')!['spec'].scaleTargetRef.name = 'x'),
      /scales nothing/,
    ],
  ])('finds %s', (_what, change, fault) => {
    expect(ruleFaults(broken(change)).join('\n')).toMatch(fault);
  });
});

const PORTS: Readonly<Record<string, number>> = {
  'postgresql:': 5432,
  'redis:': 6379,
  'smtps:': 465,
  'https:': 443,
};

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port || PORTS[protocol]);
}

function isIn(address: string, ranges: readonly string[]): boolean {
  return isInRanges(
    parseAddress(address)!,
    ranges.map((range) => parseAddressRange(range)!),
  );
}

/** The first and the last address of a range, and their neighbours outside of it, if there are any. */
function edgesOf(range: string): string[] {
  const [address, bits] = parseAddressRange(range)!;
  const bytes = address.toByteArray();
  const first = bytes.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
  const size = 1n << BigInt(8 * bytes.length - bits);
  const all = 1n << BigInt(8 * bytes.length);
  return [first - 1n, first, first + size - 1n, first + size]
    .filter((number) => number >= 0n && number < all)
    .map((number) => addressOf(number, bytes.length));
}

function addressOf(number: bigint, length: number): string {
  if (length === 4) return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.');
  const digits = number.toString(16).padStart(32, '0');
  return digits.match(/.{4}/g)!.join(':');
}

function containers(deployment: Manifest): Manifest['spec'][] {
  return deployment['spec'].template.spec.containers as Manifest['spec'][];
}

function secretsOf({ env = [] }: Container): string[] {
  return env.flatMap(({ name, valueFrom }) => {
    const key = valueFrom?.secretKeyRef?.key;
    expect(key ?? name).toBe(name);
    return key === undefined ? [] : [name];
  });
}

/** What kustomize makes of the overlay `small` with a component added. */
function renderWith(component: string): Promise<Manifest[]> {
  const folder = join('.cache', 'k8s', component);
  mkdirSync(join(ROOT, folder), { recursive: true });
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace: 'posthorn',
    resources: ['../../../k8s/overlays/small'],
    components: [`../../../k8s/components/${component}`],
  };
  writeFileSync(join(ROOT, folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  return render(folder);
}

async function expectNoFaults(manifests: readonly Manifest[], name: string): Promise<void> {
  expect(await schemaFaults(manifests)).toEqual([]);
  expect(await typeFaults(manifests, name)).toEqual([]);
  expect(ruleFaults(manifests)).toEqual([]);
}

/** Of the paths of all controllers. */
function firstSegmentsOfRoutes(): string[] {
  const sources = globSync('apps/gateway/src/**/*.controller.ts', { cwd: ROOT }).map((file) =>
    readFileSync(join(ROOT, file), 'utf8'),
  );
  const paths = sources.flatMap((source) =>
    [...source.matchAll(/@Controller\('([^'/]+)/g)].map(([, first]) => `/${first!}`),
  );
  return [...new Set(paths)].sort();
}
