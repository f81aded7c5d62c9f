import { IsOptional } from 'class-validator';
import { Setting } from './setting.ts';
import { IsWebOrigin } from './url-with-scheme.ts';

/** The address of the dashboard. */
export class DashboardSettings {
  @Setting(
    'The address of the dashboard as operators see it. Requests from pages of another origin are refused, and with https:// its cookie is sent only over TLS.',
    { defaultText: 'http://localhost:<HTTP_PORT>', example: 'https://posthorn-dashboard.example.com' },
  )
  @IsOptional()
  @IsWebOrigin()
  DASHBOARD_URL?: string;
}
