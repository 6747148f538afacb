import { defineCompatible } from '@gateway/plugin-sdk';

export default defineCompatible({
  title: 'Baseten',
  describe: 'Model APIs: chat and messages.',
  baseUrl: 'https://inference.baseten.co/v1',
  endpoints: { chatCompletions: true, messages: '/messages', models: true },
});
