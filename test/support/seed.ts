const given = process.env.GATEWAY_TEST_SEED;

/** Of what tests draw at random. Each failure tells it; `GATEWAY_TEST_SEED` draws the same again. */
export const testSeed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
if (!Number.isInteger(testSeed)) throw new Error(`GATEWAY_TEST_SEED must be an integer, not ${given}`);
