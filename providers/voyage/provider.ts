import { defineProvider } from '@gateway/plugin-sdk';
import { detailFault } from '../common/detail-fault.js';
import { embeddings } from './embeddings.js';
import { rerank } from './rerank.js';

export default defineProvider({
  title: 'Voyage AI',
  describe: 'Embeddings of text and images, and rerank.',
  priceTable: 'voyageai',
  baseUrl: 'https://api.voyageai.com/v1',
  auth: { type: 'bearer' },
  endpoints: { embeddings, rerank },
  error: detailFault,
});
