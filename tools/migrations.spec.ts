import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { NEWEST_MIGRATION } from '@posthorn/database';
import { findNarrowing } from './migrations/find-narrowing.mjs';
import { ROOT } from './stack/runtime.mjs';

/** The last migration of the last release; undefined before the first one. It is set when a version gets its heading in the changelog. */
const RELEASED: string | undefined = undefined;

/** Allowed exceptions, as `migration: statement`, and why the previous release still works. */
const ALLOWED: Readonly<Record<string, string>> = {};

const FOLDER = join(ROOT, 'prisma', 'migrations');
const migrations = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => ({ name, sql: readFileSync(join(FOLDER, name, 'migration.sql'), 'utf8') }))
  .sort((one, other) => (one.name < other.name ? -1 : 1));

describe('Migrations after a release', () => {
  it('only add, so that the previous release still works; exceptions are listed', () => {
    const newer =
      RELEASED === undefined ? migrations.length : migrations.findIndex(({ name }) => name === RELEASED) + 1;
    const found = findNarrowing(migrations.slice(0, newer), migrations.slice(newer));
    expect(found.filter((finding) => ALLOWED[finding] === undefined)).toEqual([]);
    expect(Object.keys(ALLOWED).filter((allowed) => !found.includes(allowed))).toEqual([]);
  });

  it('are known to this test once there is a release', () => {
    const released = /^## \[\d/m.test(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'));
    expect(RELEASED !== undefined).toBe(released);
    if (RELEASED !== undefined) expect(migrations.map(({ name }) => name)).toContain(RELEASED);
  });
});

it('The apps wait for the newest migration', () => {
  expect(NEWEST_MIGRATION).toBe(migrations.at(-1)!.name);
});

describe('The check of migrations', () => {
  const before = [
    {
      name: '1',
      sql: `CREATE TABLE old (id uuid, name text); CREATE INDEX old_idx ON old (id);
            CREATE FUNCTION f(a integer, b text DEFAULT 'x') RETURNS integer LANGUAGE sql AS $$ SELECT 1; $$;`,
    },
  ];
  const found = (sql: string): string[] => findNarrowing(before, [{ name: '2', sql }]);

  it.each([
    'ALTER TABLE old ADD COLUMN x integer',
    "ALTER TABLE old ADD COLUMN x text NOT NULL DEFAULT 'a, NOT NULL', ADD COLUMN y numeric(4, 2)",
    'ALTER TABLE old ALTER COLUMN name DROP NOT NULL, DROP CONSTRAINT old_check',
    'ALTER TABLE old SET (autovacuum_vacuum_scale_factor = 0.01)',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS more_idx ON old (name) WHERE name IS NOT NULL',
    'CREATE TABLE young (id uuid NOT NULL); CREATE INDEX young_idx ON young (id); CREATE UNIQUE INDEX young_key ON young (id); ALTER TABLE young ADD PRIMARY KEY (id)',
    "CREATE OR REPLACE FUNCTION f(a integer, b text DEFAULT 'y') RETURNS integer LANGUAGE sql AS $$ DROP TABLE old; $$",
    'CREATE FUNCTION g() RETURNS integer LANGUAGE sql AS $body$ SELECT 1; $body$',
    'CREATE OR REPLACE FUNCTION g() RETURNS integer LANGUAGE sql BEGIN ATOMIC SELECT 1; END',
    "-- DROP TABLE old;\nINSERT INTO old (name) VALUES ('DROP TABLE old;')",
    "CREATE TYPE t AS ENUM ('a'); INSERT INTO old VALUES (1)",
    'ALTER TABLE old ADD COLUMN at timestamptz NOT NULL DEFAULT now()',
    'CREATE TABLE young (id uuid REFERENCES old (id) ON DELETE CASCADE); CREATE TABLE younger (id uuid REFERENCES young (id))',
    'CREATE TABLE young (id uuid, FOREIGN KEY (id) REFERENCES old ON UPDATE NO ACTION ON DELETE SET NULL)',
    'CREATE TABLE young (id uuid DEFAULT gen_random_uuid() CHECK (id IS NOT NULL)); UPDATE young SET id = NULL',
  ])('takes what only adds: %s', (sql) => {
    expect(found(`${sql};`)).toEqual([]);
  });

  it.each([
    'DROP TABLE old',
    'DROP INDEX old_idx',
    'ALTER TABLE old DROP CONSTRAINT old_name_key',
    'ALTER TABLE old DROP CONSTRAINT old_pkey',
    'ALTER TABLE old DROP CONSTRAINT IF EXISTS old_id_fkey',
    'DROP FUNCTION f(integer, text)',
    'ALTER TABLE old DROP COLUMN name',
    'ALTER TABLE old DROP name',
    'ALTER TABLE old RENAME COLUMN name TO title',
    'ALTER TABLE old RENAME TO older',
    'ALTER TABLE old ADD COLUMN x integer NOT NULL',
    'ALTER TABLE old ADD COLUMN a integer, ADD COLUMN x integer NOT NULL',
    'ALTER TABLE old ALTER COLUMN name SET NOT NULL',
    'ALTER TABLE old ALTER COLUMN name TYPE integer',
    'ALTER TABLE old ALTER name DROP DEFAULT',
    'ALTER TABLE ONLY old ADD CONSTRAINT c CHECK (id IS NOT NULL)',
    'CREATE INDEX more_idx ON old (name)',
    'CREATE UNIQUE INDEX old_id_key ON old (id)',
    'CREATE INDEX CONCURRENTLY more_idx ON old (name)',
    'CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS old_id_key ON old (id)',
    'CREATE FUNCTION f(a integer) RETURNS integer LANGUAGE sql AS $$ SELECT 1; $$',
    'CREATE OR REPLACE FUNCTION f(a integer, b text, c text) RETURNS integer LANGUAGE sql AS $$ SELECT 1; $$',
    "ALTER TYPE role ADD VALUE 'OWNER'",
    'DELETE FROM old',
    'DO $$ BEGIN NULL; END $$',
    'CREATE TRIGGER t BEFORE INSERT ON old EXECUTE FUNCTION f()',
    'ALTER TABLE old ADD COLUMN x uuid NOT NULL DEFAULT gen_random_uuid()',
    'ALTER TABLE old ADD COLUMN x timestamptz DEFAULT (clock_timestamp())',
    'ALTER TABLE old ADD COLUMN x text GENERATED ALWAYS AS (lower(name)) STORED',
    'ALTER TABLE old ADD COLUMN x bigint GENERATED ALWAYS AS IDENTITY',
    'ALTER TABLE old ADD COLUMN x bigserial',
    'ALTER TABLE old ADD COLUMN x integer DEFAULT 0 CHECK (x >= 0)',
    'ALTER TABLE old ADD COLUMN x uuid REFERENCES old (id)',
    'CREATE TABLE young (id uuid NOT NULL REFERENCES old (id))',
    'CREATE TABLE young (id uuid, FOREIGN KEY (id) REFERENCES old ON DELETE RESTRICT ON UPDATE CASCADE)',
    'CREATE TABLE young (id uuid); ALTER TABLE young ADD FOREIGN KEY (id) REFERENCES old (id)',
    "UPDATE old SET name = ''",
    "WITH some AS (SELECT 1) UPDATE old SET name = ''",
    "SELECT 1 FROM (SELECT 1) s; UPDATE ONLY old o SET name = ''",
  ])('finds what the release before would not bear: %s', (sql) => {
    expect(found(`${sql};`)).toEqual([expect.stringMatching(/^2: /)]);
  });

  it('reads each migration that there is, and finds in them what was done before there was a release', () => {
    const all = findNarrowing(migrations.slice(0, 1), migrations.slice(1));
    expect(all).toContainEqual(expect.stringContaining('DROP FUNCTION why_withheld(uuid, text)'));
    expect(all).toContainEqual(expect.stringContaining("ALTER TYPE email_event_kind ADD VALUE ''"));
  });
});
