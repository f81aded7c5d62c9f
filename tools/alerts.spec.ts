import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from './stack/runtime.mjs';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface Rules {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}

/** The cases of promtool. */
interface Cases {
  readonly tests: readonly {
    readonly alert_rule_test: readonly {
      readonly alertname: string;
      readonly exp_alerts?: readonly object[];
    }[];
  }[];
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { groups } = parse(read('observe/prometheus/alerts.yaml')) as Rules;
const alerts = groups.flatMap(({ rules }) => rules);
const { tests } = parse(read('observe/prometheus/alerts.test.yaml')) as Cases;
const dashboard = JSON.parse(read('observe/grafana/dashboards/posthorn.json')) as {
  panels: { title: string; targets: { expr: string }[] }[];
};

/** The alerts as Kubernetes takes them. */
const MANIFEST = 'k8s/components/observe/alerts.yaml';
const manifest = `# Written from observe/prometheus/alerts.yaml: UPDATE_DOCS=1 npm run check:unit -- --testPathPatterns tools/alerts
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: posthorn
spec:
${read('observe/prometheus/alerts.yaml').replace(/^(?=.)/gm, '  ')}`;

const promtool = (...args: string[]) => spawnSync('promtool', args, { cwd: ROOT, encoding: 'utf8' });
const isMissing = promtool('--version').status !== 0;

/** The aggregations over several installations, in which a healthy one would hide a broken one. */
function aggregationsAcrossInstallations(expr: string): string[] {
  const aggregations = expr.matchAll(/\b(?:sum|max|min|avg|count|group|absent)\b(?!_)\s*(by \(([^)]*)\))?/g);
  return [...aggregations]
    .filter(([, , labels = '']) => !labels.split(/,\s*/).includes('namespace'))
    .map(([found]) => found);
}

describe('The alerts', () => {
  it.each(alerts.map(({ alert, expr }) => [alert, expr]))(
    '%s evaluates each installation separately',
    (_alert, expr) => expect(aggregationsAcrossInstallations(expr)).toEqual([]),
  );

  it.each([
    'max(posthorn_relay_up) == 0',
    'absent(up{job="posthorn", app="gateway"} == 1)',
    'sum by (namespace) (a) / sum by (le) (b)',
  ])('must not aggregate across installations, as in %s', (expr) =>
    expect(aggregationsAcrossInstallations(expr)).toHaveLength(1),
  );

  it.each(alerts.map((rule) => [rule.alert, rule] as const))(
    '%s has a severity, a page in docs/runbooks about it, and a case in alerts.test.yaml where it fires',
    (_alert, { alert, annotations, labels }) => {
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(annotations.summary).not.toBe('');
      expect(existsSync(join(ROOT, annotations.runbook))).toBe(true);
      expect(read(annotations.runbook)).toContain(`Alert \`${alert}\``);
      const firing = tests.flatMap(({ alert_rule_test: cases }) =>
        cases.filter(({ exp_alerts: expected = [] }) => expected.length > 0),
      );
      expect(firing.map(({ alertname }) => alertname)).toContain(alert);
    },
  );

  (isMissing ? it.skip : it)(
    `say what observe/prometheus/alerts.test.yaml expects of them${isMissing ? ' (skipped: there is no promtool here)' : ''}`,
    () => {
      const { status, stdout, stderr } = promtool('test', 'rules', 'observe/prometheus/alerts.test.yaml');
      expect([status, stderr]).toEqual([0, expect.anything()]);
      expect(stdout).toContain('SUCCESS');
    },
  );
});

it('k8s/components/observe has the same alerts; UPDATE_DOCS=1 npm run check:unit -- --testPathPatterns tools/alerts writes them', () => {
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, MANIFEST), manifest);
  expect(read(MANIFEST)).toBe(manifest);
});

it('Prometheus under Compose finds every process of every app, by the name of its service', () => {
  const { scrape_configs: jobs } = parse(read('observe/prometheus/prometheus.yaml')) as {
    scrape_configs: { dns_sd_configs: { names: string[]; type: string; port: number }[] }[];
  };
  const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: object };
  const apps = readdirSync(join(ROOT, 'apps')).sort();
  expect(Object.keys(services)).toEqual(expect.arrayContaining(apps));
  const lookups = jobs.flatMap((job) => job.dns_sd_configs);
  expect(lookups).toEqual([expect.objectContaining({ type: 'A', port: 9464 })]);
  expect(lookups[0]!.names.sort()).toEqual(apps);
});

it('The dashboard for Grafana shows the installations that are chosen, in every panel', () => {
  const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const metrics = shown.flatMap(
    (expr) => expr.match(/\b(?:posthorn|nodejs|process)_\w+(?:\{[^}]*\})?/g) ?? [],
  );
  expect(metrics.length).toBeGreaterThan(20);
  expect(metrics.filter((metric) => !metric.includes('namespace=~"$namespace"'))).toEqual([]);
});
