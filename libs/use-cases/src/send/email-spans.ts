import { type LaneId, replyClassOf, type Transmission } from '@posthorn/domain';
import type { ClaimedEmail } from '@posthorn/database';
import type { Span, Tracer } from '@posthorn/platform';
import type { WatchTransmission } from '@posthorn/smtp';

/**
 * Tells of turns and of transmissions as spans. A transmission is a part of the trace in which its email was asked for; a turn, which
 * serves emails of many traces, has one of its own, and the two are linked.
 */
export class EmailSpans {
  private readonly turnOf = new WeakMap<ClaimedEmail, Span>();

  constructor(private readonly tracer: Tracer) {}

  /** Tells of a turn, linked to what asked for its emails. @returns what is to be called when all of them are done */
  beginTurn(laneId: LaneId, emails: readonly ClaimedEmail[], claimedAt: number): () => void {
    const turn = this.tracer.start('email turn', {
      kind: 'consumer',
      links: emails.flatMap(({ traceparent }) => traceparent ?? []),
      attributes: {
        'messaging.system': 'posthorn',
        'messaging.operation.type': 'receive',
        'messaging.operation.name': 'claim',
        'messaging.destination.name': laneId,
        'messaging.batch.message_count': emails.length,
      },
      startedAt: claimedAt,
    });
    for (const email of emails) this.turnOf.set(email, turn);
    return () => turn.end();
  }

  /** Tells of each relay that is asked to take an email. */
  watch(email: ClaimedEmail): WatchTransmission {
    return (relay) => {
      const span = this.beginTransmission(email, relay);
      return (transmission) => span.end(endOf(transmission));
    };
  }

  private beginTransmission(email: ClaimedEmail, relay: string): Span {
    const turn = this.turnOf.get(email);
    const portAt = relay.lastIndexOf(':');
    return this.tracer.start('smtp send', {
      kind: 'client',
      parent: email.traceparent,
      links: turn === undefined ? [] : [turn.traceparent],
      attributes: {
        'network.protocol.name': 'smtp',
        'server.address': relay.slice(0, portAt),
        'server.port': Number(relay.slice(portAt + 1)),
        'messaging.system': 'posthorn',
        'messaging.operation.type': 'send',
        'messaging.message.id': email.id,
        'posthorn.workspace.id': email.workspaceId,
        'posthorn.attempt': email.attempts + 1,
      },
    });
  }
}

/** Of a reply its codes alone: its text repeats addresses. */
function endOf(transmission: Transmission | undefined) {
  if (transmission === undefined) return { fault: 'internal' };
  const reply = 'reply' in transmission ? transmission.reply : undefined;
  return {
    attributes: {
      'posthorn.smtp.stage': 'stage' in transmission ? transmission.stage : undefined,
      'posthorn.smtp.reply_code': reply?.code,
      'posthorn.smtp.enhanced_code': reply?.enhancedCode,
    },
    fault: transmission.kind === 'accepted' ? undefined : (replyClassOf(transmission) ?? transmission.kind),
  };
}
