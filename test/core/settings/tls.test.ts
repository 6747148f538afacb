import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readSettings } from '../../../core/settings/read.js';

const directory = mkdtempSync(join(tmpdir(), 'gateway-tls-'));
after(() => rmSync(directory, { recursive: true }));

// A self-signed P-256 pair made for this test; valid until 2126.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUVVvZpdbR0IDgYivQgZ3OddTdxqkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA1NTMyOFoYDzIxMjYxMDI4
MDU1MzI4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS5Fa7F9pflgc3Y3kOLUA+OUqJaJ4mGVQOxmIOqoUDPIKi+TzQj+Z4f
LT0+e8r4pB2F6KYp9IKryIEMLzeQXzK9o1MwUTAdBgNVHQ4EFgQUfylbMjR1VrgX
yDSa8wKhoY0cDNQwHwYDVR0jBBgwFoAUfylbMjR1VrgXyDSa8wKhoY0cDNQwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA2Nx1hE5tZLJ5QhCTeHnW
ZmAdL9t/vZE5xmSZKUzt4CQCIAq8HQXtu+xUWfiTU28CmZPc9AR7N7WE1FpUgvTS
F36l
-----END CERTIFICATE-----
`;
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5ftxOC2pKcPbkXW7
1FJabX2sasEr6Um9VbBd0Lvs3ZahRANCAAS5Fa7F9pflgc3Y3kOLUA+OUqJaJ4mG
VQOxmIOqoUDPIKi+TzQj+Z4fLT0+e8r4pB2F6KYp9IKryIEMLzeQXzK9
-----END PRIVATE KEY-----
`;
writeFileSync(join(directory, 'cert.pem'), certificate);
writeFileSync(join(directory, 'key.pem'), key);
writeFileSync(join(directory, 'other.pem'), generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }));
writeFileSync(join(directory, 'text.pem'), 'hello');

const read = (keyFile?: string, certFile?: string) => readSettings({
  ...(keyFile === undefined ? {} : { GATEWAY_TLS_KEY_FILE: keyFile }), ...(certFile === undefined ? {} : { GATEWAY_TLS_CERT_FILE: certFile }),
}, directory).tls;

test('a key with its certificate is taken, paths made absolute', () => {
  assert.deepEqual(read('key.pem', 'cert.pem'), { keyFile: join(directory, 'key.pem'), certFile: join(directory, 'cert.pem') });
});

test('one file without the other is refused', () => {
  assert.throws(() => read('key.pem'), { message: 'TLS needs both files; GATEWAY_TLS_CERT_FILE (tls_cert_file) is not set' });
  assert.throws(() => read(undefined, 'cert.pem'), { message: 'TLS needs both files; GATEWAY_TLS_KEY_FILE (tls_key_file) is not set' });
});

test('a file that is missing, no PEM, or of another pair is refused by variable', () => {
  assert.throws(() => read('none.pem', 'cert.pem'), { message: /^GATEWAY_TLS_KEY_FILE names .*none\.pem, which cannot be read \(ENOENT/ });
  assert.throws(() => read('key.pem', 'text.pem'), { message: /^GATEWAY_TLS_CERT_FILE names .*text\.pem, which is not a PEM certificate$/ });
  assert.throws(() => read('text.pem', 'cert.pem'), { message: /^GATEWAY_TLS_KEY_FILE names .*text\.pem, which is not a PEM private key/ });
  assert.throws(() => read('other.pem', 'cert.pem'), { message: /does not belong to the certificate/ });
});
