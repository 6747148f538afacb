// Checks the TLS files before the edge gets them, whose own message on a bad file says nothing. Runs once at start; keeps no key.

import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fail, reasonOf } from '../errors/gateway-error.js';

/** Absolute paths of PEM files. */
export interface TlsFiles {
  readonly keyFile: string;
  readonly certFile: string;
}

export function checkTls(keyPath: string | undefined, certPath: string | undefined, cwd: string): TlsFiles | undefined {
  if (keyPath === undefined && certPath === undefined) return undefined;
  if (keyPath === undefined || certPath === undefined) {
    const missing = keyPath === undefined ? 'GATEWAY_TLS_KEY_FILE (tls_key_file)' : 'GATEWAY_TLS_CERT_FILE (tls_cert_file)';
    throw fail('SETTINGS_INVALID', { reason: `TLS needs both files; ${missing} is not set` });
  }
  const files: TlsFiles = Object.freeze({ keyFile: resolve(cwd, keyPath), certFile: resolve(cwd, certPath) });
  const key = load('GATEWAY_TLS_KEY_FILE', 'a PEM private key without a passphrase', files.keyFile, (content): KeyObject => createPrivateKey(content));
  const certificate = load('GATEWAY_TLS_CERT_FILE', 'a PEM certificate', files.certFile, (content) => new X509Certificate(content));
  if (!certificate.checkPrivateKey(key)) {
    throw fail('SETTINGS_INVALID', { reason: `the private key in ${files.keyFile} does not belong to the certificate in ${files.certFile}; set GATEWAY_TLS_KEY_FILE and GATEWAY_TLS_CERT_FILE to a pair` });
  }
  return files;
}

function load<T>(variable: string, expected: string, path: string, parse: (content: Buffer) => T): T {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `${variable} names ${path}, which cannot be read (${reasonOf(thrown)})` }, thrown);
  }
  try {
    return parse(content);
  } catch (thrown) {
    throw fail('SETTINGS_INVALID', { reason: `${variable} names ${path}, which is not ${expected}` }, thrown);
  }
}
