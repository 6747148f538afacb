// Every job of the control plane.

import type { Job } from '../jobs.js';
import { keyJob } from './api-keys/key-job.js';
import { sessionJob } from './sign-in/session-job.js';
import { emptyingJob } from './workspaces/emptying-job.js';

export const jobs: readonly Job[] = [keyJob, sessionJob, emptyingJob];
