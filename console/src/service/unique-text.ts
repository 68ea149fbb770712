/** A text that nothing else has, for an `Idempotency-Key`. Pages over plain HTTP have no `crypto.randomUUID`. */
export const uniqueText = () => crypto.getRandomValues(new Uint32Array(4)).join("-");
