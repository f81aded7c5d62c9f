import { defineConfig } from 'prisma/config';

// `env()` of Prisma throws when the variable is unset, and generating the client needs no database.
export default defineConfig({
  schema: 'prisma/schema',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
});
