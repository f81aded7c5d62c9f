import type { Transmission } from '@posthorn/domain';

/** The stage, with the reply or error. */
export function describeTransmission(transmission: Transmission): string {
  switch (transmission.kind) {
    case 'refused':
      return `${transmission.stage}: ${transmission.reply.code} ${transmission.reply.text}`;
    case 'broken':
      return `${transmission.stage}: ${transmission.error}`;
    case 'accepted':
    case 'unknown':
      return transmission.kind;
  }
}
