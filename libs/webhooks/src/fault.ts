import { networkInterfaces } from 'node:os';
import { LOCAL_FAULTS, type PostFailure } from '@posthorn/domain';
import { errors } from 'undici';

/** The step of a POST that failed. */
type PostStep = 'name' | 'connect' | 'tls' | 'exchange';

const STEP_DESCRIPTIONS: Readonly<Record<PostStep, string>> = {
  name: 'while its name was looked up',
  connect: 'while connecting',
  tls: 'during the TLS handshake',
  exchange: 'after the request was sent',
};

/** On a machine without a network, every address gives one of these; on one with a network, they are about the address. */
const NO_ROUTE: readonly string[] = ['ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL'];

const CONNECT: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the receiver refused the connection',
  ECONNRESET: 'the receiver closed the connection',
  EPIPE: 'the receiver closed the connection',
  EHOSTUNREACH: 'there is no route to the address of the receiver',
  ENETUNREACH: 'there is no route to the address of the receiver',
  EADDRNOTAVAIL: 'there is no route to the address of the receiver',
};

/** With TLS 1.3, the receiver says so only after the handshake, when the request has been sent. */
const CERTIFICATE_REQUIRED = 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED';
const UNKNOWN_ISSUER =
  'the certificate of the receiver is not from an authority that is trusted, or one in between was not sent';
const TLS: Readonly<Record<string, string>> = {
  'CERT_HAS_EXPIRED': 'the certificate of the receiver has expired',
  'CERT_NOT_YET_VALID': 'the certificate of the receiver is not valid yet',
  'DEPTH_ZERO_SELF_SIGNED_CERT': 'the certificate of the receiver is self-signed',
  'SELF_SIGNED_CERT_IN_CHAIN': UNKNOWN_ISSUER,
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY': UNKNOWN_ISSUER,
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE': UNKNOWN_ISSUER,
  'ERR_TLS_CERT_ALTNAME_INVALID': 'the certificate of the receiver is for another name',
  'ECONNRESET': 'the receiver closed the connection during the TLS handshake',
  'ERR_SSL_WRONG_VERSION_NUMBER': 'the receiver does not speak TLS at this port',
  'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION': 'the receiver supports no version of TLS from 1.2 on',
  'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL': 'the receiver supports HTTP/2 only, not HTTP/1.1',
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE':
    'the receiver refused the handshake; perhaps it asks for a client certificate, which is not sent, or supports only old ciphers',
  'ERR_SSL_TLSV1_UNRECOGNIZED_NAME': 'the receiver has no certificate for the name in the URL',
  [CERTIFICATE_REQUIRED]: 'the receiver asks for a client certificate, which is not sent',
};

const PROTOCOL: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'the header of the answer was larger than 16 KiB',
};

type Failure = Extract<PostFailure, { kind: 'failed' }>;

/** A failure that the receiver is responsible for. */
export function failed(errorClass: Failure['errorClass'], reason: string): Failure {
  return { kind: 'failed', errorClass, reason };
}

/** A POST that took too long. */
export function timedOut(step: PostStep, ms: number): PostFailure {
  return failed('timeout', `no answer within ${ms / 1_000} s: the time was over ${STEP_DESCRIPTIONS[step]}`);
}

/** Why connecting failed. */
export function connectFault(error: unknown, step: 'connect' | 'tls'): PostFailure {
  const code = codeOf(error);
  const ours = faultOfOurs(code);
  if (ours !== undefined) return ours;
  if (code === 'ETIMEDOUT') return failed('timeout', 'the receiver did not answer');
  if (step === 'tls') return failed('tls', TLS[code] ?? `the TLS handshake failed (${code})`);
  return failed('connect', CONNECT[code] ?? `connecting failed (${code})`);
}

/**
 * Why an exchange failed before the response header was received.
 *
 * @param hasReceived whether any byte was received
 */
export function exchangeFault(error: unknown, hasReceived: boolean): PostFailure {
  const code = codeOf(error);
  const ours = faultOfOurs(code);
  if (ours !== undefined) return ours;
  if (hasReceived || code in PROTOCOL) return failed('protocol', PROTOCOL[code] ?? protocolReason(error));
  if (code === CERTIFICATE_REQUIRED) return connectFault(error, 'tls');
  return failed('connect', 'the receiver closed the connection without an answer');
}

function protocolReason(error: unknown): string {
  if (error instanceof ProtocolViolation) return error.message;
  if (!(error instanceof errors.HTTPParserError)) return 'the answer was incomplete, or none in HTTP/1.1';
  // In parentheses, undici adds what its parser expected.
  const [, expected] = error.message.split(' (', 2);
  return `the answer was not valid HTTP/1.1${expected === undefined ? '' : ` (${expected}`}`;
}

/** Behaviour of a receiver for which the exchange is aborted, as a sentence. */
export class ProtocolViolation extends Error {}

function faultOfOurs(code: string): PostFailure | undefined {
  if (NO_ROUTE.includes(code) && !hasNetwork())
    return { kind: 'ours', reason: 'this machine has no network' };
  const reason = LOCAL_FAULTS[code];
  return reason === undefined ? undefined : { kind: 'ours', reason };
}

function hasNetwork(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ internal, address }) => !internal && !address.startsWith('fe80:')),
  );
}

/** The error code; of several attempts, the first that is not merely a missing route (such as no IPv6). */
function codeOf(error: unknown): string {
  const errors = error instanceof AggregateError ? (error.errors as unknown[]) : [error];
  const codes = errors.map((one) => (one as NodeJS.ErrnoException | undefined)?.code ?? 'unknown');
  return codes.find((code) => !NO_ROUTE.includes(code)) ?? codes[0] ?? 'unknown';
}
