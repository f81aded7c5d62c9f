import { describe, expect, it } from '@jest/globals';
import { Refusal } from '@posthorn/kernel';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsOptional,
  IsString,
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { shapePipe } from './shape-faults.ts';

class ItemRequest {
  @IsString()
  @MaxLength(5, { message: 'is $value.length characters long; at most 5 are possible' })
  subject!: string;
}

class BatchRequest {
  @IsArray()
  @ArrayMaxSize(50)
  @ValidateNested({ each: true })
  @Type(() => ItemRequest)
  emails!: ItemRequest[];

  @IsOptional()
  @IsIn(['A', 'B'], { each: true })
  events?: string[];
}

async function judge(body: unknown): Promise<string> {
  try {
    await shapePipe().transform(body, { type: 'body', metatype: BatchRequest });
    return 'right';
  } catch (error) {
    if (error instanceof Refusal && error.statusCode === 400) return error.message;
    throw error;
  }
}

describe('shapePipe', () => {
  it('takes a right body as an instance of its class', async () => {
    const body = { emails: [{ subject: 'hi' }], events: ['A'] };
    const taken: unknown = await shapePipe().transform(body, { type: 'body', metatype: BatchRequest });
    expect(taken).toBeInstanceOf(BatchRequest);
    expect(taken).toEqual(body);
  });

  it('names every fault with the path of its field, in one message', async () => {
    const body = { emails: [{ subject: 'hi' }, { subject: 5, sendat: 1 }], events: ['A', 'C'], x: 1 };
    const message = await judge(body);
    expect(message.split('; ')).toEqual(
      expect.arrayContaining([
        '`x` is not a known field',
        'remove it or mend its name',
        '`emails[1].sendat` is not a known field',
        '`emails[1].subject` must be a string',
        'each value in `events` must be one of the following values: A, B',
      ]),
    );
  });

  it('does not convert: a number is no string', async () => {
    await expect(judge({ emails: [{ subject: 12 }] })).resolves.toContain(
      '`emails[0].subject` must be a string',
    );
  });

  it('puts the path in front of a message that names no field', async () => {
    await expect(judge({ emails: [{ subject: 'too long' }] })).resolves.toContain('`emails[0].subject` is ');
  });

  it('says no more than twenty faults, and how many more there are', async () => {
    const message = await judge({ emails: Array.from({ length: 50 }, () => ({ subject: 'too long' })) });
    expect(message).toMatch(/; and 30 more$/);
  });

  it('shortens the names of unknown fields', async () => {
    expect((await judge({ emails: [], ['x'.repeat(100_000)]: 1 })).length).toBeLessThan(200);
  });
});
