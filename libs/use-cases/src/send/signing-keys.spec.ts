import { generateKeySync } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, newUuid } from '@posthorn/kernel';
import { sealContextOf, SEALED_COLUMNS, type SealedSigningKey, type SendingDomain } from '@posthorn/database';
import { newDkimKeyPair, SecretBox } from '@posthorn/signing';
import { SigningKeys } from './signing-keys.ts';

const workspaceId = newId('wrk', 0);
const newBox = (): SecretBox => new SecretBox([{ id: 'test', key: generateKeySync('aes', { length: 256 }) }]);
const box = newBox();
const asked = (domain: string): SendingDomain => ({ workspaceId, domain });

async function newKey(): Promise<SealedSigningKey> {
  const { algorithm, privateKey } = await newDkimKeyPair('ed25519');
  const id = newUuid(0);
  const sealedPrivateKey = box.seal(privateKey, sealContextOf(SEALED_COLUMNS.dkimPrivateKey, id));
  return { id, algorithm, selector: 'sel', sealedPrivateKey };
}

describe('The keys that emails are signed with', () => {
  let key: SealedSigningKey;
  let groups: SendingDomain[][];
  let found: SealedSigningKey[];
  const store = {
    readSigningKeys: (domains: readonly SendingDomain[]): Promise<SealedSigningKey[][]> => {
      groups.push([...domains]);
      return Promise.resolve(domains.map(({ domain }) => (domain === 'none.example' ? [] : found)));
    },
  };
  beforeAll(async () => {
    key = await newKey();
    groups = [];
    found = [key];
  });

  it('are read in one statement for concurrent calls, each domain once, and decrypted once', async () => {
    const keys = new SigningKeys(store, box);
    const together = ['a.example', 'none.example', 'a.example'].map((domain) => keys.find(asked(domain)));
    const [one, none, same] = await Promise.all(together);
    expect(groups).toEqual([[asked('a.example'), asked('none.example')]]);
    expect(one).toMatchObject({ signers: [{ algorithm: 'ed25519', domain: 'a.example', selector: 'sel' }] });
    expect([none, same]).toEqual([{ signers: [] }, one]);
    const later = await keys.find(asked('a.example'));
    expect(later.signers[0]!.privateKey).toBe(one!.signers[0]!.privateKey);
    expect(groups).toHaveLength(2);
  });

  it('that cannot be decrypted are reported for their own domain, beside those that can', async () => {
    found = [{ ...key, id: newUuid(0) }, key];
    const { signers, fault } = await new SigningKeys(store, box).find(asked('a.example'));
    expect(signers).toHaveLength(1);
    expect(fault).toMatchObject({ name: 'SecretNotOpened' });
    expect((await new SigningKeys(store, newBox()).find(asked('a.example'))).signers).toEqual([]);
  });
});
