import { IsWholeNumber } from './is-whole-number.ts';
import { Setting } from './setting.ts';

/** The limits of the gateway. */
export class GatewaySettings {
  @Setting(
    'How many requests are processed at once; further ones are answered 503 at once. One workspace may have nine tenths of that.',
  )
  @IsWholeNumber(1, 100_000)
  MAX_REQUESTS_IN_FLIGHT = 1_000;

  @Setting(
    'How many bytes of request bodies are held at once; further ones are answered 503 at once. One workspace may use half of that, or one body of the largest size. Processing them takes up to eight times as much memory.',
  )
  @IsWholeNumber(64 * 1024 * 1024, 64 * 1024 * 1024 * 1024)
  MAX_BYTES_IN_FLIGHT = 256 * 1024 * 1024;
}
