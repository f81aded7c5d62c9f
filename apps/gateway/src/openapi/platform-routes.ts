import { Refusal } from '@posthorn/kernel';
import type { RouteDescription } from './describes.ts';
import { HealthAnswer } from './service.answers.ts';

/** The routes that the platform adds to every app, without descriptions of their own. */
export const PLATFORM_ROUTES: Readonly<Record<string, RouteDescription>> = {
  '/health/live': {
    name: 'checkLiveness',
    tag: 'Service',
    summary: 'Is the process alive?',
    description: 'For whoever restarts processes: 503 when only a restart helps.',
    answer: HealthAnswer,
    exampleOverrides: { status: 'live', checks: { eventLoop: { ok: true } } },
    refuses: {
      Stuck: new Refusal(503, 'This process is stuck (eventLoop: last turn 12034 ms ago); restart it'),
    },
  },
  '/health/ready': {
    name: 'checkReadiness',
    tag: 'Service',
    summary: 'Does the process take requests?',
    description:
      'For whoever sends it requests: 503 while it starts or stops. What it depends on is shown, but does not affect the status.',
    answer: HealthAnswer,
    exampleOverrides: { checks: { database: { ok: true, checkedAt: '2030-01-31T09:30:00.000Z' } } },
    refuses: {
      'Starting or going away': new Refusal(503, 'This process is draining; send requests to another one'),
    },
  },
};
