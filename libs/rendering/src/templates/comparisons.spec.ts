import { describe, expect, it } from '@jest/globals';
import { compare, isEqual, isTruthy, numeric } from './comparisons.ts';

describe('S3: comparisons in templates', () => {
  it.each([
    [' -7.25 ', -7.25],
    ['+12', 12],
    [7, 7],
    ['1e3', Number.NaN],
    ['0x10', Number.NaN],
    ['7a', Number.NaN],
    ['a7', Number.NaN],
    ['', Number.NaN],
    [[7], Number.NaN],
    [true, Number.NaN],
  ])('%j as a number is %d', (value, number) => {
    expect(numeric(value)).toBe(number);
  });

  it.each([
    [1, '1', true],
    ['a', 'a', true],
    ['a', 'b', false],
    [true, true, true],
    [true, 'true', false],
    ['', [], false],
    [{}, {}, false],
  ])('%j equals %j: %s', (left, right, equal) => {
    expect(isEqual(left, right)).toBe(equal);
  });

  it.each([
    ['10', '9', 1],
    [2, '10', -1],
    [7, '7.0', 0],
    [Infinity, Infinity, 0],
    ['x', '5', 1],
    ['a', 'b', -1],
    ['a', 'a', 0],
    ['b', 'a', 1],
    ['a', 5, Number.NaN],
    [5, 'a', Number.NaN],
    [[1], [2], Number.NaN],
  ])('%j compared with %j gives %d', (left, right, sign) => {
    expect(Math.sign(compare(left, right))).toBe(sign);
  });

  it('takes an array for true if it has an element', () => {
    expect([[0], []].map(isTruthy)).toEqual([true, false]);
  });
});
