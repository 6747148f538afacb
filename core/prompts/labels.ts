// Labels that every workspace has, and nobody changes.

export interface UniversalLabel {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly colorCode: string;
}

export const universalLabels: readonly UniversalLabel[] = [
  { id: '00000000-0000-7000-8000-000000000001', name: 'production', description: 'what is in use', colorCode: '#22a06b' },
  { id: '00000000-0000-7000-8000-000000000002', name: 'staging', description: 'what is tried before it is in use', colorCode: '#f5a623' },
  { id: '00000000-0000-7000-8000-000000000003', name: 'development', description: 'what is worked on', colorCode: '#4a6cf7' },
];

export const universalLabel = (idOrName: string): UniversalLabel | undefined => universalLabels.find(({ id, name }) => id === idOrName || name === idOrName);
