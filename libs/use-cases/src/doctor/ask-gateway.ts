import type { ErrorBody } from '@posthorn/kernel';

const ANSWER_WITHIN_MS = 5_000;

/** What is answered at a URL: by a gateway, or by something on the way to it. */
interface PublicAnswer {
  readonly status: number;
  /** Whether the body is an error of the API ({@link ErrorBody}): an ingress or a proxy answers even if it forwards nothing. */
  readonly isRefusal: boolean;
  /** Where it redirects to; null: nowhere. */
  readonly location: string | null;
}

/** Requests a URL without a key, as recipients do; does not follow redirects. */
export async function askGateway(url: string): Promise<PublicAnswer | { readonly failure: string }> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS), redirect: 'manual' });
    const isRefusal = isErrorBody(await answer.text(), answer.status);
    return { status: answer.status, isRefusal, location: answer.headers.get('location') };
  } catch (error) {
    const { cause, message } = error as Error;
    return { failure: cause instanceof Error ? cause.message : message };
  }
}

/** Whether this is the error body of the API for a status. */
function isErrorBody(text: string, status: number): boolean {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null;
    return body?.statusCode === status && typeof body.message === 'string';
  } catch {
    return false;
  }
}
