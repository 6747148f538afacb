// Makes a built copy of another commit of this repository in a temporary directory, for --against.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const workspaceScope = '@gateway';

function run(command: string, argv: readonly string[], directory: string): string {
  try {
    return execFileSync(command, [...argv], { cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64 * 1024 * 1024, timeout: 600_000 });
  } catch (error) {
    const details = error instanceof Error && 'stderr' in error && 'stdout' in error ? `${String(error.stdout)}${String(error.stderr)}` : '';
    throw new Error(`${command} ${argv.join(' ')} failed in ${directory}: ${details.trim().split('\n').slice(-15).join('\n')}`, { cause: error });
  }
}

/**
 * The modules of this tree serve the other one too when both have the same lock file. Only the workspace
 * packages are linked to the other tree's own folders: they are part of what is compared.
 */
function linkModules(root: string, tree: string): void {
  const from = join(root, 'node_modules');
  const to = join(tree, 'node_modules');
  mkdirSync(to);
  for (const name of readdirSync(from)) if (name !== workspaceScope && name !== '.package-lock.json') symlinkSync(join(from, name), join(to, name));
  const scope = join(from, workspaceScope);
  if (!existsSync(scope)) return;
  mkdirSync(join(to, workspaceScope));
  for (const name of readdirSync(scope)) symlinkSync(join(tree, name), join(to, workspaceScope, name));
}

/** Returns the short name of the commit and the directory of its built tree. */
export function buildTree(root: string, commit: string, temporaryDirectory: string, say: (text: string) => void): { readonly name: string; readonly tree: string } {
  const name = run('git', ['rev-parse', '--short', '--verify', `${commit}^{commit}`], root).trim();
  const tree = join(temporaryDirectory, `tree-${name}`);
  const archive = join(temporaryDirectory, `${name}.tar`);
  mkdirSync(tree);
  say(`checking out ${name}`);
  run('git', ['archive', '--format=tar', `--output=${archive}`, name], root);
  run('tar', ['-xf', archive, '-C', tree], root);
  const lockFile = 'package-lock.json';
  const hasSameLock = existsSync(join(tree, lockFile)) && readFileSync(join(tree, lockFile)).equals(readFileSync(join(root, lockFile)));
  if (hasSameLock) {
    linkModules(root, tree);
  } else {
    say(`installing the packages of ${name}, whose lock file differs`);
    run('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], tree);
  }
  say(`building ${name}`);
  run(process.execPath, [join('node_modules', 'typescript', 'bin', 'tsc'), '-b'], tree);
  return { name, tree };
}
