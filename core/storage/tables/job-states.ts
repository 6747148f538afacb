import { defineTable, type RowOf } from '../define-table.js';
import { anyObject, filledText, object, timeMs } from '../schema-parts.js';

/** Who runs a job at the moment, and what it remembers from one run to the next. The id is the name of the job. */
export const jobStates = defineTable({
  name: 'job-state',
  format: 1,
  schema: object({
    id: filledText(),
    holder: filledText(),
    /** Nobody else runs the job before. */
    untilMs: timeMs(),
    memory: anyObject(),
  }),
});
export type JobStateRow = RowOf<typeof jobStates>;
