import { type DynamicModule, Module } from '@nestjs/common';
import { ApiKeyStore, AcceptanceStore, type Database, EmailStore, IdentityStore } from '@posthorn/database';
import { Authenticate } from '@posthorn/auth';
import { type Mailbox } from '@posthorn/domain';
import { type LaneRings } from '@posthorn/queues';
import { SecretBox } from '@posthorn/signing';
import { AcceptEmails, SendSystemMail } from '@posthorn/use-cases';
import { ErrorPagesController } from './docs/error-pages.controller.ts';
import { EmailsController } from './emails/emails.controller.ts';

export interface GatewayParts {
  readonly database: Database;
  readonly rings: LaneRings;
  /** Emails a month of a workspace without a limit of its own; null: none. */
  readonly monthlyLimit: number | null;
  /** The sender of Posthorn's own mails; undefined: it sends none. */
  readonly systemFrom: Mailbox | undefined;
  /** What keeps secrets at rest. */
  readonly secretBox: SecretBox;
}

/** The HTTP interface. */
@Module({})
export class GatewayModule {
  static of({ database, rings, monthlyLimit, systemFrom, secretBox }: GatewayParts): DynamicModule {
    const acceptEmails = new AcceptEmails({
      store: new AcceptanceStore(database),
      identities: new IdentityStore(database),
      rings,
      clock: database.clock,
      monthlyLimit,
    });
    return {
      module: GatewayModule,
      controllers: [EmailsController, ErrorPagesController],
      providers: [
        { provide: AcceptEmails, useValue: acceptEmails },
        { provide: SendSystemMail, useValue: new SendSystemMail({ acceptEmails, from: systemFrom }) },
        { provide: SecretBox, useValue: secretBox },
        { provide: EmailStore, useValue: new EmailStore(database) },
        { provide: Authenticate, useValue: new Authenticate(new ApiKeyStore(database)) },
      ],
    };
  }
}
