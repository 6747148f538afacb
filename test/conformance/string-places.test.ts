// Every place of a string in the published descriptions of the dialects is judged, or known to be harmless. A new place in a new description is
// neither, until somebody has looked at it: string-places.json says how the list is made.

import { answerPieces, applyEdits, requestPieces, type EndpointName, type Json, type TextPiece } from '@gateway/plugin-sdk';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { bodyAt } from './place-body.js';

type Places = Readonly<Record<string, readonly string[]>>;
const listed = JSON.parse(readFileSync(new URL('../../../test/conformance/string-places.json', import.meta.url), 'utf8')) as { readonly requests: Places; readonly answers: Places };

/** A text, and no id, encoding or address. */
const marker = 'a needle, said in words';
/** For places that are left unread as long as there is an id. */
const token = 'needle_0123';

/** Ids and choices that the API or the provider makes: members by their name, wherever they stand. */
const ids = new RegExp(`(?:^|\\.|\\})(?:${[
  'id', 'model', 'voice', 'call_id', 'caller_id', 'tool_call_id', 'tool_use_id', 'file_id', 'file_ids\\[\\]', 'container_id', 'container', 'skill_id', 'vector_store_ids\\[\\]', 'version',
  'previous_response_id', 'conversation', 'approval_request_id', 'tunnel_id', 'fingerprint', 'system_fingerprint', 'size', 'mode', 'format', 'created_by', 'type', 'stop_reason',
].join('|')})$`);
const encoded = /(?:^|\.|\})(?:data|file_data|encrypted_content|encrypted_index|encrypted_stdout|signature)$|\{type=image_generation_call\}\.result$/;
const addresses = /(?:image_url|file_url)$|(?:image_url|source(?:\{[^}]*\})?)\.url$/;
const credentials = /authorization(?:_token)?$|headers\.\*$/;
/** What an answer says of its request. */
const echoed = /^(?:instructions|metadata|tools|tool_choice|prompt|text|user|safety_identifier|prompt_cache_key|reasoning|conversation)\b/;

/** What may stand there unread, and nothing else; undefined where everything is judged. */
function harmlessText(place: string): string | undefined {
  if (place.includes('{type=text}.data') || place.startsWith('prompt.variables')) return undefined;
  if (ids.test(place)) return token;
  if (encoded.test(place)) return 'bmVlZGxl';
  if (addresses.test(place)) return 'https://files.example/needle.png';
  return credentials.test(place) ? 'Bearer needle' : undefined;
}

const sides: readonly (readonly [string, Places, (endpoint: EndpointName, body: Json) => TextPiece[]])[] = [['requests', listed.requests, requestPieces], ['answers', listed.answers, answerPieces]];

for (const [side, places, read] of sides) {
  for (const [endpoint, list] of Object.entries(places)) {
    describe(`strings in ${side} of ${endpoint}`, () => {
      const textsAt = (place: string, text: string): TextPiece[] => read(endpoint as EndpointName, bodyAt(place, text)).filter((piece) => piece.text.includes(text));
      const isEchoed = (place: string): boolean => side === 'answers' && endpoint === 'responses' && echoed.test(place);

      it('are judged wherever they may stand', () => {
        assert.deepEqual(list.filter((place) => !isEchoed(place) && textsAt(place, marker).length === 0), []);
      });

      it('are left unread only where the place is known to be harmless, and what stands there as well', () => {
        assert.deepEqual(list.filter((place) => !isEchoed(place) && harmlessText(place) === undefined && textsAt(place, token).length === 0), []);
        // The list above has nothing in it that is judged anyway.
        assert.deepEqual(list.filter((place) => harmlessText(place) !== undefined && textsAt(place, harmlessText(place) as string).length > 0), []);
      });

      it('can be changed in every place', () => {
        for (const place of list) {
          const body = bodyAt(place, marker);
          const pieces = read(endpoint as EndpointName, body);
          const edits = pieces.flatMap(({ text }, piece) => (text === marker ? [{ piece, from: 0, to: text.length, text: 'gone' }] : []));
          const changed = JSON.stringify(applyEdits(body, pieces, edits));
          assert.equal(changed.includes(marker), isEchoed(place), `${place}: ${changed}`);
        }
      });
    });
  }
}
