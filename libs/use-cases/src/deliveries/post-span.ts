import type { ClaimedDelivery } from '@posthorn/database';
import type { Span, Tracer } from '@posthorn/platform';
import type { PostResult } from '@posthorn/webhooks';

/** Begins the span of a POST in the trace that caused its event. The URL is left out: it may contain a secret of the workspace. */
export function beginPostSpan(tracer: Tracer, delivery: ClaimedDelivery): Span {
  const { traceparent, attemptsMade, id, event, eventId, webhookId, workspaceId } = delivery;
  return tracer.start('POST webhook', {
    kind: 'client',
    parent: traceparent,
    attributes: {
      'http.request.method': 'POST',
      'http.request.resend_count': attemptsMade > 0 ? attemptsMade : undefined,
      'posthorn.event.name': event,
      'posthorn.event.id': eventId,
      'posthorn.delivery.id': id,
      'posthorn.webhook.id': webhookId,
      'posthorn.workspace.id': workspaceId,
    },
  });
}

/** Ends the span. @param result undefined: there is none, because of a fault of ours */
export function endPostSpan(span: Span | undefined, result: PostResult | undefined): void {
  if (result?.kind !== 'answered') {
    span?.end({ fault: result?.kind === 'failed' ? result.errorClass : 'internal' });
    return;
  }
  const { status } = result;
  span?.end({
    attributes: { 'http.response.status_code': status },
    fault: status >= 300 ? String(status) : undefined,
  });
}
