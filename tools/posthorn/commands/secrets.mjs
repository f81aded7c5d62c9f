/** @type {import('../commands.mjs').Command[]} */
export const SECRET_COMMANDS = [
  {
    name: 'secrets rotate',
    sentence: 'Re-encrypts every stored secret with the first key of ENCRYPTION_KEYS.',
    flags: {},
    example: 'secrets rotate',
    run: ({ useCases, actor, sealedSecrets, openSecretBox }) =>
      useCases.rotateSecrets(sealedSecrets, actor, openSecretBox()),
    show: ({ key, sealedAnew }) =>
      sealedAnew === 0
        ? `Every secret is already encrypted with the key “${key}”. If the apps, too, have it first in ENCRYPTION_KEYS, the others can be removed.`
        : `${sealedAnew} secrets were re-encrypted with the key “${key}”. Run it again until none is left: a process that still ` +
          'begins its list with another key encrypts with that one.',
  },
];
