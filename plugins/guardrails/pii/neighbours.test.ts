// Personal data stands beside other numbers: times, order numbers, postcodes, another of its kind. Each format is looked for in each frame, in a
// text as a whole and in a stream cut anywhere.

import type { Json } from '@gateway/plugin-sdk';
import { fakeCheckInput, fakeHost, runStreamCheck, withDefaults } from '@gateway/plugin-sdk/testing';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import plugin from './plugin.js';

const make = async (params: Readonly<Record<string, Json>>) => plugin.create(withDefaults(plugin.params, params) as never, fakeHost());
const lookBackMax = plugin.lookBackMax ?? 0;

/** By category; where there is a word, the number behind it is what counts. */
const formats: readonly (readonly [category: string, value: string, word?: string])[] = [
  ['CREDIT_CARD', '4532 0151 1283 0366'],
  ['CREDIT_CARD', '4111-1111-1111-1111'],
  ['CREDIT_CARD', '5555555555554444'],
  ['CREDIT_CARD', '3782 822463 10005'],
  ['SSN', '536-22-1845'],
  ['PHONE_NUMBER', '415-555-0123'],
  ['PHONE_NUMBER', '(212) 555-0123'],
  ['PHONE_NUMBER', '+14155550123'],
  ['PHONE_NUMBER', '+44 20 7946 0958'],
  ['PHONE_NUMBER', '+49 30 901820'],
  ['IBAN', 'DE89 3704 0044 0532 0130 00'],
  ['IBAN', 'GB82WEST12345698765432'],
  ['EMAIL_ADDRESS', 'jane.doe@contoso.com'],
  ['IP_ADDRESS', '203.0.113.42'],
  ['IP_ADDRESS', '2001:db8::ff00:42:8329'],
  ['MAC_ADDRESS', '00:1B:44:11:3A:B7'],
  ['MAC_ADDRESS', '00-1B-44-11-3A-B7'],
  ['BR_CPF', '529.982.247-25'],
  ['UK_NINO', 'JG 10 37 59 A'],
  ['ES_DNI', '12345678Z'],
  ['VIN', '1HGCM82633A004352'],
  ['IT_CODICE_FISCALE', 'RSSMRA85T10A562S'],
  ['CRYPTO_ADDRESS', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['UK_NHS', '943 476 5919', 'NHS '],
  ['US_BANK_ROUTING', '021000021', 'routing '],
];

const frames: readonly string[] = [
  'X', '09:12:44 X', '2024-05-01 X', '2024-05-01T09:12:44Z X', '[09:12:44.123] X', 'order 12345 X', '#12345 X', 'order no. 98765432, X', 'X 12345', 'X 24/7', 'X 9-5', 'X, 24',
  'X 09:12', 'X X', 'X, X', 'X,X', 'X/X', 'X-X', 'X_X', 'X;X', 'user-X', 'user_X', 'X-home', 'X_home', 'row_X_7', '12345_X', 'X_12345', '12345-X', 'X-12345', '12345:X', '12345|X|67',
  'SW1A 1AA X', '94103 X', '10115 X', 'X 94103', '1. X', '(X)', '"X":1', '1) X 2) X', 'qty 3 X 19.99', '$19.99 X', 'v1.2.3 X', '50% X 7', 'X.', 'X.\n12', '12\tX\t13', 'table 7, seat 12, X at 10 am',
];

const markOf = (category: string): string => `<${category}>`;
const slug = (text: string): string => text.replace(/[ \n]/g, '');

describe('personal data beside other numbers', () => {
  it('is found whole in every frame', async () => {
    const check = await make({ redact: true, placeholder: '<{category}>' });
    const missed: string[] = [];
    for (const [category, value, word = ''] of formats) {
      for (const frame of frames) {
        const text = frame.replaceAll('X', word + value);
        const { edits = [] } = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: text }] } }));
        for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
          const hit = edits.some((edit) => edit.from <= at && edit.to >= at + value.length && edit.text === markOf(category));
          if (!hit) missed.push(`${category} in ${JSON.stringify(text)}: ${JSON.stringify(edits.map(({ from, to, text: mark }) => `${text.slice(from, to)} ${mark}`))}`);
        }
      }
    }
    assert.deepEqual(missed, [], `${missed.length} of ${formats.length * frames.length} combinations`);
  });

  it('is found alike in a stream that is cut anywhere', async () => {
    const check = await make({ redact: true });
    for (const [, value, word = ''] of formats) {
      for (const frame of frames) {
        const text = frame.replaceAll('X', word + value);
        const whole = runStreamCheck(check, [text], { lookBackMax }).text;
        assert.ok(!slug(whole).includes(slug(value)), `${text} -> ${whole}`);
        for (let at = 1; at < text.length; at += 1) assert.equal(runStreamCheck(check, [text.slice(0, at), text.slice(at)], { lookBackMax }).text, whole, `${text} at ${at}`);
        assert.equal(runStreamCheck(check, [...text], { lookBackMax }).text, whole, text);
      }
    }
  });

  it('is not what other numbers are taken for', async () => {
    const check = await make({ redact: true });
    const others = [
      // Cards and the like whose check digits are wrong.
      '4532 0151 1283 0367', 'order 4532015112830367', '4111-1111-1111-1112', 'GB82 WEST 1234 5698 7654 33', 'DE89370400440532013001', '529.982.247-26', '12345678A', 'RSSMRA85T10A562T', '1HGCM82633A004353',
      // Times and dates.
      '2024-05-01T09:12:44.123Z', '1714554764123', '1714554764', '20240501091244', '09:12:44 10:15:00', '2024-05-01 2024-05-02', '01.05.2024 12:30', '12/31/2024 23:59:59', 'Mon 12:30-14:45',
      // Versions and numbers of things.
      'v1.2.3.4', 'version 10.0.19045.3803', 'openssl 3.0.2-0ubuntu1.10', 'linux-5.15.0-91-generic', 'chrome/120.0.6099.109', '1.2.3.4-beta2', '1.2.3.4-1',
      'ISBN 978-3-16-148410-0', 'tracking 1Z999AA10123456784', 'invoice 2024-000123-45', 'ticket 12345-678', 'SKU 123-4567-89', 'AB-1234-5678',
      // Hashes and ids.
      'd41d8cd98f00b204e9800998ecf8427e', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', '550e8400-e29b-41d4-a716-446655440000', '3f2504e0-4f89-11d3-9a0c-0305e82c3301', 'commit 4e1243bd22c6',
      'req_4f9a8b7c6d5e', 'session-000000001234', '00000000-0000-0000-0000-000000000000',
      // Prices, sizes, ranges and lists.
      '$1,299.00 and $19.99', 'EUR 1.234.567,89', '1 234 567 890', '10 20 30 40 50 60', '100-200 300-400', '3.14159265358979', '0.4532015112830366', '1920x1080 2560x1440', '555-0123', '24/7/365', '1-2-3-4-5',
      '127.0.0.1 255.255.255.0', '10.0.0.0/8', '40.7128, -74.0060', '1e10 2.5e-3', '00:00:00:00:00:00', '12:34:56:78',
    ];
    const found: string[] = [];
    for (const other of others) {
      for (const text of [other, `see ${other} now`, `(${other})`]) {
        const { edits = [] } = await check.evaluate(fakeCheckInput({ body: { messages: [{ role: 'user', content: text }] } }));
        if (edits.length > 0) found.push(`${text}: ${edits.map(({ from, to, text: mark }) => `${text.slice(from, to)} ${mark}`).join()}`);
      }
    }
    assert.deepEqual(found, []);
  });
});
