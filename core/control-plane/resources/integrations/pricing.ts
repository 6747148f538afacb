// Factors on the prices of what an integration's models are charged for.

import { object, orNull } from '../../../storage/schema-parts.js';
import { Type } from '../../../storage/type.js';
import { named } from '../../envelope.js';

const factor = () => Type.Optional(orNull(Type.Number({ minimum: 0 })));

export const pricingAdjustmentsField = Type.Unsafe<Readonly<Record<string, unknown>> | null>(orNull(named('PricingAdjustments', object({
  multiplier: Type.Optional(orNull(object({
    default: factor(), request_token: factor(), response_token: factor(), cache_read_input_token: factor(), cache_write_input_token: factor(), cache_read_audio_input_token: factor(),
    request_audio_token: factor(), response_audio_token: factor(), reasoning_token: factor(), prediction_accepted_token: factor(), prediction_rejected_token: factor(),
    request_image_token: factor(), response_image_token: factor(), request_text_token: factor(), response_text_token: factor(), cache_read_image_input_token: factor(),
    cache_read_text_input_token: factor(), cache_write_text_input_token: factor(), cache_write_image_input_token: factor(),
    image: Type.Optional(orNull(object({ default: factor() }))),
    additional_units: Type.Optional(orNull(Type.Record(orNull(Type.Number({ minimum: 0 }))))),
  }))),
}))));
