import { Param } from '@nestjs/common';
import { parseId, Refusal } from '@posthorn/kernel';

interface PathIdTraits {
  readonly prefix: string;
  /** What it identifies, for the message of the 404. */
  readonly noun: string;
}

/** The ids in paths, by the name of the path parameter. */
export const PATH_IDS = {
  workspace_id: { prefix: 'wrk', noun: 'workspace' },
  api_key_id: { prefix: 'aki', noun: 'API key' },
  email_id: { prefix: 'trs', noun: 'email' },
  template_id: { prefix: 'tpl', noun: 'template' },
  contact_id: { prefix: 'ctc', noun: 'contact' },
  suppression_id: { prefix: 'sup', noun: 'suppression' },
  identity_id: { prefix: 'idn', noun: 'identity' },
  user_id: { prefix: 'usr', noun: 'member' },
  invitation_id: { prefix: 'inv', noun: 'invitation' },
  webhook_id: { prefix: 'wh', noun: 'webhook' },
  delivery_id: { prefix: 'dlv', noun: 'delivery' },
  erasure_id: { prefix: 'ers', noun: 'erasure' },
  recovery_id: { prefix: 'rcv', noun: 'recovery' },
} as const satisfies Record<string, PathIdTraits>;

export type PathIdName = keyof typeof PATH_IDS;

/** Gives a handler an id of its path; a malformed one is refused like an unknown one. */
export const PathId = (name: PathIdName): ParameterDecorator =>
  Param(name, { transform: (text: string) => foundBy(name, parseId(PATH_IDS[name].prefix, text)) });

/** The refusal of an id that does not exist in the caller's workspace, whether or not it exists in another. */
export function unknownId(name: PathIdName): Refusal {
  return new Refusal(404, `There is no ${PATH_IDS[name].noun} with this id in this workspace`);
}

/** The value found by an id of a path. @throws Refusal (404) when it is undefined */
export function foundBy<Value>(name: PathIdName, value: Value | undefined): Value {
  if (value === undefined) throw unknownId(name);
  return value;
}
