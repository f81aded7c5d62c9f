import { type AddressRange, parseAddressRange } from '@posthorn/domain';
import { IsOfForm } from './is-of-form.ts';

/** The ranges of `10.0.0.0/8, fd00::/8`; undefined for each piece that is no address and no range. */
function rangesIn(text: string): (AddressRange | undefined)[] {
  return text.split(',').map((piece) => parseAddressRange(piece.trim()));
}

/** The ranges of a text that {@link AreAddressRanges} accepts; none where nothing is set. */
export function addressRangesIn(text = ''): AddressRange[] {
  return rangesIn(text).filter((range) => range !== undefined);
}

/** Accepts addresses and ranges (CIDR) with commas between them. */
export const AreAddressRanges = (): PropertyDecorator =>
  IsOfForm(
    'addresses or ranges such as 10.0.0.0/8, with commas between them',
    (text) => !rangesIn(text).includes(undefined),
  );
