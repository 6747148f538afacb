export { geminiError, geminiToChat } from './gemini/answer.js';
export { countTokensAnswer } from './gemini/count.js';
export { packVector, readInputs } from './gemini/embedding.js';
export type { GeminiDialect } from './gemini/contents.js';
export { geminiImages, geminiImageRequests, imagenImages, imagenRequest } from './gemini/images.js';
export { isImagen, isGeminiThree } from './gemini/models.js';
export { chatToGemini, geminiAccepts } from './gemini/request.js';
export { geminiSpeech, geminiSpeechRequest } from './gemini/speech.js';
export { geminiStage } from './gemini/stream.js';
