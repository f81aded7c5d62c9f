/** The tags of the document, in their order. */
export const TAGS = {
  'Emails': 'Send emails, one or up to 50 at once, now or later, and see their status and timeline.',
  'Templates': 'The content of emails, with placeholders for variables.',
  'Contacts': 'The people that emails are sent to: their properties, and whether they are subscribed.',
  'Suppressions': 'Addresses to which nothing is sent, and why.',
  'Erasures': 'Erasing all that the workspace has about a person.',
  'Webhooks': 'The URLs to which events are posted, and the results of each delivery.',
  'Identities': 'The addresses and domains that the workspace may send from.',
  'API keys': 'The keys of the workspace.',
  'Members': 'The people of the workspace, and who is invited to it.',
  'Statistics':
    'How many emails were sent, delivered, opened and clicked, and how much of the monthly limit is used.',
  'Audit log': 'Who changed what in the workspace, and when.',
  'Service': 'The state of the service, and its documentation.',
} as const;

export type Tag = keyof typeof TAGS;
