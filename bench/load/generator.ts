// The load generator, a process of its own: does the one task of its argument, prints its figures, ends.
import { runPaced } from './generator-paced.js';
import { runRequests } from './generator-requests.js';
import { runStreams } from './generator-streams.js';
import { parseTask } from './generator-task.js';

const task = parseTask(process.argv[2] ?? 'null');
const figures = await (task.mode === 'streams' ? runStreams(task) : task.mode === 'paced' ? runPaced(task) : runRequests(task));
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0));
