import { type AddressRange, parseAddressRange } from '@posthorn/domain';
import { HasForm } from './has-form.ts';

/** Parses `10.0.0.0/8, fd00::/8`; undefined for each part that is neither an address nor a range. */
function rangesIn(text: string): (AddressRange | undefined)[] {
  return text.split(',').map((piece) => parseAddressRange(piece.trim()));
}

/** The ranges of a text that {@link AreAddressRanges} accepts; none where nothing is set. */
export function addressRangesIn(text = ''): AddressRange[] {
  return rangesIn(text).filter((range) => range !== undefined);
}

/** Accepts addresses and ranges (CIDR) with commas between them. */
export const AreAddressRanges = (): PropertyDecorator =>
  HasForm(
    'addresses or ranges such as 10.0.0.0/8, with commas between them',
    (text) => !rangesIn(text).includes(undefined),
  );
