// Hot: runs for each chunk of an answer under a limit of tokens or cost.
// A usage tap beside which the text that goes by is counted, for answers that break off or say nothing of their usage.

import type { Exchange, Hold } from '../../exchange/exchange.js';
import { UsageTap } from '../../stream/usage-tap.js';

class DeliveryTap extends UsageTap {
  constructor(readonly delivered: NonNullable<Hold['delivered']>, readonly isOfEvents: boolean, isNative: boolean) {
    super(isOfEvents, isNative);
  }

  override push(chunk: Uint8Array): void {
    this.delivered.push(chunk, this.isOfEvents);
    super.push(chunk);
  }
}

/** Parameters as of UsageTap. */
export function tapFor({ hold }: Exchange, isEventStream: boolean, isNative: boolean): UsageTap {
  return hold === null || hold.delivered === null ? new UsageTap(isEventStream, isNative) : new DeliveryTap(hold.delivered, isEventStream, isNative);
}
