import { AcceptanceStore, type Database, IdentityStore, TemplateStore } from '@posthorn/database';
import { AcceptEmails, type AcceptEmailsOptions } from './accept-emails.ts';

interface AcceptanceParts extends Pick<AcceptEmailsOptions, 'rings' | 'monthlyLimit' | 'errorBodyOf'> {
  readonly database: Database;
}

/** The only way to accept emails, for the gateway and for operators who send an email again. */
export function openAcceptance({ database, ...others }: AcceptanceParts): AcceptEmails {
  return new AcceptEmails({
    ...others,
    store: new AcceptanceStore(database),
    identities: new IdentityStore(database),
    templates: new TemplateStore(database),
    clock: database.clock,
  });
}
