import { defineResource } from '../../define-resource.js';
import { graphs } from './graphs.js';
import { groups } from './groups.js';

export const analyticsResource = defineResource({ name: 'analytics', kind: 'analytics', operations: { ...graphs, ...groups } });
