// Checks the TLS files before the edge gets them, whose own message on a bad file says nothing. Runs once at start; keeps no key.

import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { reasonOf } from '../errors/gateway-error.js';
import type { NoteFault } from './faults.js';
import { environmentName, type SettingKey } from './schema.js';

/** Absolute paths of PEM files. */
export interface TlsFiles {
  readonly keyFile: string;
  readonly certFile: string;
}

/** Undefined without TLS, and with files at fault. */
export function checkTls(keyPath: string | undefined, certPath: string | undefined, cwd: string, note: NoteFault): TlsFiles | undefined {
  if (keyPath === undefined && certPath === undefined) return undefined;
  if (keyPath === undefined || certPath === undefined) {
    const missing = keyPath === undefined ? 'GATEWAY_TLS_KEY_FILE (tls_key_file)' : 'GATEWAY_TLS_CERT_FILE (tls_cert_file)';
    note(`TLS needs both files; ${missing} is not set`, [keyPath === undefined ? 'tls_key_file' : 'tls_cert_file']);
    return undefined;
  }
  const files: TlsFiles = Object.freeze({ keyFile: resolve(cwd, keyPath), certFile: resolve(cwd, certPath) });
  const key = load('tls_key_file', 'a PEM private key without a passphrase', files.keyFile, note, (content): KeyObject => createPrivateKey(content));
  const certificate = load('tls_cert_file', 'a PEM certificate', files.certFile, note, (content) => new X509Certificate(content));
  if (key === undefined || certificate === undefined) return undefined;
  if (certificate.checkPrivateKey(key)) return files;
  note(`the private key in ${files.keyFile} does not belong to the certificate in ${files.certFile}; set GATEWAY_TLS_KEY_FILE and GATEWAY_TLS_CERT_FILE to a pair`, ['tls_key_file', 'tls_cert_file']);
  return undefined;
}

function load<T>(key: SettingKey, expected: string, path: string, note: NoteFault, parse: (content: Buffer) => T): T | undefined {
  let content: Buffer;
  try {
    content = readFileSync(path);
  } catch (thrown) {
    note(`${environmentName(key)} names ${path}, which cannot be read (${reasonOf(thrown)})`, [key]);
    return undefined;
  }
  try {
    return parse(content);
  } catch {
    // The library's own message says nothing.
    note(`${environmentName(key)} names ${path}, which is not ${expected}`, [key]);
    return undefined;
  }
}
