import { expect, it } from '@jest/globals';
import { DashboardSettings } from './dashboard-settings.ts';
import { readSettings } from './read-settings.ts';

const read = (DASHBOARD_URL: string): string | undefined =>
  readSettings({ dashboard: DashboardSettings }, { DASHBOARD_URL }).dashboard.DASHBOARD_URL;

it.each(['https://posthorn.example.com', 'https://posthorn.example.com/', 'http://[::1]:3001'])(
  'The dashboard can be at %s',
  (url) => {
    expect(read(url)).toBe(url);
  },
);

// Its pages link to each other from the root.
it.each(['https://example.com/posthorn', 'https://example.com/posthorn/', 'https://example.com?a=b'])(
  'The dashboard cannot be at %s',
  (url) => {
    expect(() => read(url)).toThrow(
      /DASHBOARD_URL is .*; it must be a URL that begins with https:\/\/ or http:\/\/ and has nothing after host and port, since the dashboard needs a host or port of its own$/,
    );
  },
);
