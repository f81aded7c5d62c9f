import { IsOptional } from 'class-validator';
import { Setting } from './setting.ts';
import { baseUrl, IsWebAddress } from './url-with-scheme.ts';

/** The tracking of opens and clicks. */
export class TrackingSettings {
  @Setting(
    'The address of the gateway in the links and images of tracked emails, if it differs from `PUBLIC_URL`: a separate name keeps its reputation separate. `gateway`, `sender` and `dashboard` must have the same value.',
    { defaultText: 'PUBLIC_URL', example: 'https://links.example.com' },
  )
  @IsOptional()
  @IsWebAddress()
  TRACKING_URL?: string;

  /** The base URL of tracked links, without a trailing slash. */
  trackingUrl(publicUrl: string): string {
    return this.TRACKING_URL === undefined ? publicUrl : baseUrl(this.TRACKING_URL);
  }
}
