import { defineSecrets, SecretError, type Host, type SecretSource } from '@gateway/plugin-sdk';

const shape = /^[A-Za-z_]\w*$/;
/** The gateway's own settings, keys among them. */
const ownPrefix = /^GATEWAY_/i;

class EnvironmentSource implements SecretSource {
  constructor(readonly host: Host, readonly allowed: readonly string[]) {}

  pathFault(name: string): string | undefined {
    if (!shape.test(name)) return 'must be the name of an environment variable';
    if (ownPrefix.test(name)) return 'is a setting of the gateway itself, which no reference reads';
    const isAllowed = this.allowed.some((rule) => (rule.endsWith('*') ? name.startsWith(rule.slice(0, -1)) : name === rule));
    return isAllowed ? undefined : 'is not a variable that the operator allows: the setting secret_sources needs env=NAME for it';
  }

  async read(name: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const fault = this.pathFault(name);
    if (fault !== undefined) throw new SecretError(`its path ${fault}`);
    try {
      return await this.host.secret(`env:${name}`);
    } catch {
      throw new SecretError('the environment of the gateway has no such variable');
    }
  }
}

export default defineSecrets({
  title: 'Environment',
  describe: 'Reads environment variables of the gateway that the operator allows.',
  params: { type: 'object', properties: {} },
  create: (_params, host, allowed) => new EnvironmentSource(host, allowed),
});
