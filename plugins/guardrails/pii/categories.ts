import type { CountryCode } from 'libphonenumber-js/core';
import type { Recogniser } from '../common/spans/recogniser.js';
import { email, ipAddresses, macAddress, phoneNumbers, type PhoneCheck } from './contact-patterns.js';
import { creditCard, cryptoAddresses, iban, usBankRouting } from './finance-patterns.js';
import { dateOfBirth, identityNumbers } from './identity-patterns.js';
import { personName, streetAddresses } from './name-patterns.js';

export const categories = [
  'EMAIL_ADDRESS', 'PHONE_NUMBER', 'CREDIT_CARD', 'SSN', 'IP_ADDRESS', 'LOCATION_ADDRESS', 'NAME', 'IBAN', 'US_BANK_ROUTING', 'UK_NHS', 'UK_NINO', 'PASSPORT',
  'DATE_OF_BIRTH', 'CRYPTO_ADDRESS', 'MAC_ADDRESS', 'DE_TAX_ID', 'FR_INSEE', 'ES_DNI', 'IT_CODICE_FISCALE', 'BR_CPF', 'IN_AADHAAR', 'IN_PAN', 'CA_SIN', 'AU_TFN', 'VIN',
] as const;

export function recognisersOf(chosen: ReadonlySet<string>, country: CountryCode, isPhone: PhoneCheck): readonly Recogniser[] {
  const all = [
    email, creditCard, ...identityNumbers, ...phoneNumbers(country, isPhone), ...ipAddresses, macAddress, iban, usBankRouting, ...cryptoAddresses, dateOfBirth, personName,
    ...streetAddresses,
  ];
  return all.filter(({ category }) => chosen.has(category));
}
