import { type AddressRange, parseAddressRange } from '@posthorn/domain';
import { ValidateBy } from 'class-validator';

/** Reads `10.0.0.0/8, fd00::/8`; undefined stands for each piece that is no address and no range. */
export function readAddressRanges(text: string): (AddressRange | undefined)[] {
  return text.split(',').map((piece) => parseAddressRange(piece.trim()));
}

/** Accepts addresses and ranges (CIDR) with commas between them. */
export function AreAddressRanges(): PropertyDecorator {
  return ValidateBy({
    name: 'areAddressRanges',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' && !readAddressRanges(value).includes(undefined),
      defaultMessage: () => 'must be addresses or ranges such as 10.0.0.0/8, with commas between them',
    },
  });
}
