import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { newId, type TemplateId, type WorkspaceId } from '@posthorn/kernel';
import { PreviewTemplate } from './preview-template.ts';

const TEMPLATE: TemplateId = newId('tpl', 0);
const [ours, theirs, others]: [WorkspaceId, WorkspaceId, WorkspaceId] = [
  newId('wrk', 0),
  newId('wrk', 1),
  newId('wrk', 2),
];

/** The workspaces whose templates are being read, until the test releases them. */
function reading() {
  const read: WorkspaceId[] = [];
  const letGo: (() => void)[] = [];
  const find = async (workspaceId: WorkspaceId): Promise<undefined> => {
    read.push(workspaceId);
    await new Promise<void>((resolve) => letGo.push(resolve));
  };
  const unused = () => Promise.reject(new Error('there is no such template'));
  const previews = new PreviewTemplate({
    store: { find, findVersion: unused },
    renderer: { render: unused },
    htmlToText: { convert: unused },
    unsubscribeLinks: { example: '' },
  });
  return {
    read,
    letGo: () => letGo.shift()!(),
    preview: (workspaceId: WorkspaceId) => previews.preview(workspaceId, TEMPLATE, { variables: {} }),
  };
}

describe('Previews of templates', () => {
  it('keep one template of a workspace in memory at a time, and do not delay other workspaces', async () => {
    const { read, letGo, preview } = reading();
    const previews = [preview(ours), preview(ours), preview(theirs)];
    await turn();
    expect(read).toEqual([ours, theirs]);
    letGo();
    await turn();
    expect(read).toEqual([ours, theirs, ours]);
    letGo();
    letGo();
    expect(await Promise.all(previews)).toEqual([undefined, undefined, undefined]);
  });

  it('keep two templates of all workspaces in memory at a time', async () => {
    const { read, letGo, preview } = reading();
    const previews = [ours, theirs, others].map(preview);
    await turn();
    expect(read).toEqual([ours, theirs]);
    letGo();
    await turn();
    expect(read).toEqual([ours, theirs, others]);
    letGo();
    letGo();
    await Promise.all(previews);
  });

  it('are refused beyond the limit of waiting ones', async () => {
    const { letGo, preview } = reading();
    const waiting = Array.from({ length: 26 }, () => preview(ours));
    await expect(preview(ours)).rejects.toMatchObject({ statusCode: 503 });
    for (const one of waiting) {
      await turn();
      letGo();
      await one;
    }
  });
});
