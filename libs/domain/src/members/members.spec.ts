import { describe, expect, it } from '@jest/globals';
import type { Role } from '../roles.ts';
import { invitationEnd, invitationStatus } from './invitation.ts';
import { leavesNoEditor } from './last-editor.ts';
import { nameFromAddress } from './member.ts';

describe('An invitation', () => {
  const now = new Date('2030-01-31T09:30:00Z');
  const [earlier, later] = [new Date(now.getTime() - 1), new Date(now.getTime() + 1)];
  it.each([
    ['OPEN', later, null, null],
    ['EXPIRED', now, null, null],
    ['EXPIRED', earlier, null, null],
    ['ACCEPTED', later, earlier, null],
    ['ACCEPTED', earlier, earlier, null],
    ['REVOKED', later, null, earlier],
    ['REVOKED', earlier, null, earlier],
  ])('is %s', (state, expiresAt, acceptedAt, revokedAt) => {
    expect(invitationStatus({ expiresAt, acceptedAt, revokedAt }, now)).toBe(state);
  });

  it('expires seven days after its mail', () => {
    expect(invitationEnd(now)).toEqual(new Date('2030-02-07T09:30:00Z'));
  });
});

describe('The name of a person who was invited without one', () => {
  it.each([
    ['ada@example.com', 'ada'],
    ['ada.lovelace+x@example.com', 'ada.lovelace+x'],
    ['😀@example.com', '😀'],
  ])('%s is called %s', (email, name) => {
    expect(nameFromAddress(email)).toBe(name);
  });
});

describe('Members are left without an editor', () => {
  it.each<[boolean, Role[], Role, Role | undefined]>([
    [true, ['VIEWER'], 'EDITOR', undefined],
    [true, ['API_USER', 'VIEWER'], 'EDITOR', 'API_USER'],
    [true, [], 'EDITOR', 'VIEWER'],
    [false, [], 'EDITOR', undefined],
    [false, ['VIEWER', 'EDITOR'], 'EDITOR', undefined],
    [false, ['EDITOR'], 'EDITOR', 'VIEWER'],
    [false, ['VIEWER'], 'EDITOR', 'EDITOR'],
    [false, ['VIEWER'], 'API_USER', undefined],
    [false, ['VIEWER'], 'VIEWER', 'EDITOR'],
    [false, ['EDITOR'], 'VIEWER', undefined],
  ])('%s: beside %j, when a member goes from %s to %s', (is, others, before, after) => {
    expect(leavesNoEditor(others, before, after)).toBe(is);
  });
});
