import { type LaneId, replyClassOf, type Transmission } from '@posthorn/domain';
import type { ClaimedEmail } from '@posthorn/database';
import type { Span, Tracer } from '@posthorn/platform';
import type { WatchTransmission } from '@posthorn/smtp';

/**
 * Spans of turns and transmissions. The span of a transmission belongs to the trace of the request that created its email; a turn, which serves emails of
 * many traces, has a trace of its own. The two are linked.
 */
export class EmailSpans {
  private readonly turnOf = new WeakMap<ClaimedEmail, Span>();

  constructor(private readonly tracer: Tracer) {}

  /** Begins the span of a turn, linked to the requests that created its emails. @returns a function to call when all of them are done */
  beginTurn(laneId: LaneId, emails: readonly ClaimedEmail[], startedAt: number): () => void {
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
      startedAt,
    });
    for (const email of emails) this.turnOf.set(email, turn);
    return () => turn.end();
  }

  /** Creates a span for each relay that an email is sent to. */
  watch(email: ClaimedEmail): WatchTransmission {
    return (relay) => {
      const span = this.beginTransmission(email, relay);
      return (transmission) => span.end(spanEnd(transmission));
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

/** Only the codes of a reply: its text often contains addresses. */
function spanEnd(transmission: Transmission | undefined) {
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
